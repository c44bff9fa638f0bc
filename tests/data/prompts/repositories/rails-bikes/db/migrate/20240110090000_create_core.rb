class CreateCore < ActiveRecord::Migration[7.1]
  def change
    create_table :stations do |t|
      t.string :external_id, :name, :city
      t.integer :capacity, default: 10
    end
    create_table :bikes do |t|
      t.references :station
      t.string :model, :frame_number
      t.integer :status, default: 0
      t.integer :hourly_rate_cents, default: 300
    end
    create_table :bookings do |t|
      t.references :user
      t.references :bike
      t.datetime :starts_at, :ends_at, :cancelled_at
      t.timestamps
    end
  end
end
