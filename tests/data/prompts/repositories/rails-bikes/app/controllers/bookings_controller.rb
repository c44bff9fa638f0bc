class BookingsController < ApplicationController
  def index
    @bookings = current_user.bookings.order(starts_at: :desc)
  end

  def show
    @booking = Booking.find(params[:id])
    authorize @booking
  end

  def new
    @booking = Booking.new(bike_id: params[:bike_id])
  end

  def create
    @booking = BookingCreator.new(current_user, booking_params).call
    redirect_to @booking, notice: t(".success")
  rescue BookingCreator::Overlap
    redirect_to new_booking_path, alert: t(".overlap")
  end

  def destroy
    booking = current_user.bookings.find(params[:id])
    return redirect_to(booking, alert: t(".too_late")) unless booking.cancellable?

    booking.update!(cancelled_at: Time.current)
    BookingMailer.cancelled(booking).deliver_later
    redirect_to bookings_path
  end

  private

  def booking_params
    params.require(:booking).permit(:bike_id, :starts_at, :ends_at)
  end
end
