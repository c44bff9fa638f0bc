class ApplicationController < ActionController::Base
  include Pundit::Authorization
  before_action :authenticate_user!
  rescue_from Pundit::NotAuthorizedError, with: :forbidden

  private

  def forbidden
    redirect_to root_path, alert: "Not allowed"
  end
end
