Stripe.api_key = ENV.fetch("STRIPE_SECRET_KEY")
Stripe.open_timeout = 5
