require "rails_helper"

RSpec.describe Booking do
  it "charges every started hour" do
    b = build(:booking, starts_at: Time.utc(2024, 5, 1, 10), ends_at: Time.utc(2024, 5, 1, 11, 20))
    expect(b.total_cents).to eq 600
  end

  it "cannot be cancelled in the last half hour" do
    expect(build(:booking, starts_at: 20.minutes.from_now)).not_to be_cancellable
  end
end
