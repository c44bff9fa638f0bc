class User < ApplicationRecord
  devise :database_authenticatable, :registerable, :recoverable, :validatable
  has_many :bookings, dependent: :restrict_with_error
  validates :phone, format: { with: /\A\+?\d{9,15}\z/ }, allow_blank: true

  def full_name
    "#{first_name} #{last_name}".strip
  end
end
