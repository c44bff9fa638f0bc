require "rails_helper"

RSpec.describe "Bookings", type: :request do
  it "rejects an overlapping booking" do
    b = create(:booking)
    sign_in create(:user)
    post "/bookings", params: { booking: { bike_id: b.bike_id, starts_at: b.starts_at, ends_at: b.ends_at } }
    expect(flash[:alert]).to eq "The bike is already booked"
  end
end
