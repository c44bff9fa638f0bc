class ReminderJob < ApplicationJob
  queue_as :mailers

  def perform
    Booking.active.where(starts_at: 1.hour.from_now..2.hours.from_now).find_each do |booking|
      BookingMailer.reminder(booking).deliver_now
    end
  end
end
