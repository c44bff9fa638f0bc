require "csv"

class StationImportJob < ApplicationJob
  queue_as :imports

  def perform(path)
    CSV.foreach(path, headers: true) do |row|
      station = Station.find_or_initialize_by(external_id: row["id"])
      station.update!(name: row["name"], city: row["city"], capacity: row["capacity"])
    end
  end
end
