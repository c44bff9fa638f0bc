class Booking < ApplicationRecord
  belongs_to :user
  belongs_to :bike
  validates :starts_at, :ends_at, presence: true
  validate :ends_after_start

  scope :active, -> { where(cancelled_at: nil) }
  scope :overlapping, ->(from, to) { active.where("starts_at < ? AND ends_at > ?", to, from) }

  def cancellable?
    starts_at - Time.current > Rails.configuration.x.cancellation_window
  end

  def total_cents
    hours = ((ends_at - starts_at) / 3600.0).ceil
    hours * bike.hourly_rate_cents
  end

  private

  def ends_after_start
    errors.add(:ends_at, "must be after start") if starts_at && ends_at && ends_at <= starts_at
  end
end
