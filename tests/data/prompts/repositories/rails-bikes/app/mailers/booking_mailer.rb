class BookingMailer < ActionMailer::Base
  default from: "hola@tandem.example"

  def cancelled(booking)
    @booking = booking
    mail to: booking.user.email, subject: "Booking cancelled"
  end

  def reminder(booking)
    @booking = booking
    mail to: booking.user.email, subject: "Your bike is waiting"
  end
end
