Rails.application.routes.draw do
  devise_for :users
  root "stations#index"
  resources :stations, only: %i[index show]
  resources :bookings, only: %i[index show new create destroy]
  post "/stripe/webhook", to: "stripe_webhooks#create"
  namespace :api do
    namespace :v1 do
      resources :stations, only: %i[index show]
      resources :bookings, only: %i[create show]
    end
  end
end
