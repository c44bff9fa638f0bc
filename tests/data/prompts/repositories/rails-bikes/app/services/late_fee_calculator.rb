class LateFeeCalculator
  GRACE_MINUTES = 10

  def initialize(booking, returned_at)
    @booking = booking
    @returned_at = returned_at
  end

  def cents
    late = ((@returned_at - @booking.ends_at) / 60).floor
    return 0 if late <= GRACE_MINUTES

    (late / 30.0).ceil * Rails.configuration.x.late_fee_cents
  end
end
