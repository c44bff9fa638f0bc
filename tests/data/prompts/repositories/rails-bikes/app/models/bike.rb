class Bike < ApplicationRecord
  belongs_to :station
  has_many :bookings
  enum :status, { available: 0, rented: 1, maintenance: 2 }
  validates :frame_number, presence: true, uniqueness: true

  def display_name
    "#{model} (#{frame_number})"
  end
end
