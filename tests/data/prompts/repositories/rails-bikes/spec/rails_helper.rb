ENV["RAILS_ENV"] ||= "test"
require_relative "../config/application"
require "rspec/rails"
RSpec.configure { |c| c.use_transactional_fixtures = true }
