require "rails/all"

module Tandem
  class Application < Rails::Application
    config.load_defaults 7.1
    config.time_zone = "Madrid"
    config.active_job.queue_adapter = :sidekiq
    config.x.cancellation_window = 30.minutes
    config.x.late_fee_cents = 250
  end
end
