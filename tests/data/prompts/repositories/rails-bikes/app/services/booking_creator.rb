class BookingCreator
  class Overlap < StandardError; end

  def initialize(user, params)
    @user = user
    @params = params
  end

  def call
    Booking.transaction do
      bike = Bike.lock.find(@params[:bike_id])
      raise Overlap if bike.bookings.overlapping(@params[:starts_at], @params[:ends_at]).exists?

      @user.bookings.create!(@params)
    end
  end
end
