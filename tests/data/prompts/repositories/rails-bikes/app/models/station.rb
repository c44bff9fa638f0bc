class Station < ApplicationRecord
  has_many :bikes
  validates :name, presence: true
  validates :capacity, numericality: { greater_than: 0 }

  def display_name
    "#{name}, #{city}"
  end

  def free_slots
    capacity - bikes.count
  end
end
