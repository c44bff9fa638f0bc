namespace :bookings do
  desc "Delete cancelled bookings older than 90 days"
  task prune: :environment do
    n = Booking.where("cancelled_at < ?", 90.days.ago).delete_all
    puts "deleted #{n}"
  end
end
