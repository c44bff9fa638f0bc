class AddPaymentToBookings < ActiveRecord::Migration[7.1]
  def change
    add_column :bookings, :payment_intent_id, :string
    add_column :bookings, :paid_at, :datetime
    add_column :bookings, :refunded_at, :datetime
  end
end
