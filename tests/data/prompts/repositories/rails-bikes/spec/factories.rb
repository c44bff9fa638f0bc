FactoryBot.define do
  factory :user do
    sequence(:email) { |n| "u#{n}@example.com" }
    password { "secret123" }
  end
  factory :station do
    name { "Atocha" }
    city { "Madrid" }
    capacity { 20 }
  end
  factory :bike do
    station
    model { "Urban" }
    sequence(:frame_number) { |n| "F#{n}" }
  end
  factory :booking do
    user
    bike
    starts_at { 1.day.from_now }
    ends_at { 1.day.from_now + 2.hours }
  end
end
