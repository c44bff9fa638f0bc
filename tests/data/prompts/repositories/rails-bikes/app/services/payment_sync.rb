class PaymentSync
  def initialize(event)
    @event = event
  end

  def call
    case @event.type
    when "payment_intent.succeeded" then mark(:paid_at)
    when "charge.refunded" then mark(:refunded_at)
    end
  end

  private

  def mark(column)
    booking = Booking.find_by!(payment_intent_id: @event.data.object.id)
    booking.update!(column => Time.current)
  end
end
