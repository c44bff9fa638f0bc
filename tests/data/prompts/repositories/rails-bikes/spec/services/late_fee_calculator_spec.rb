require "rails_helper"

RSpec.describe LateFeeCalculator do
  let(:booking) { build(:booking) }

  it "is free within the grace period" do
    expect(described_class.new(booking, booking.ends_at + 9.minutes).cents).to eq 0
  end

  it "charges each started half hour" do
    expect(described_class.new(booking, booking.ends_at + 31.minutes).cents).to eq 500
  end
end
