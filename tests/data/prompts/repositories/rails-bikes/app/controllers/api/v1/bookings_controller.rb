module Api
  module V1
    class BookingsController < ActionController::API
      before_action :authenticate_token!

      def create
        booking = BookingCreator.new(@user, params.permit(:bike_id, :starts_at, :ends_at)).call
        render json: booking, status: :created
      rescue BookingCreator::Overlap
        render json: { error: "overlap" }, status: :conflict
      end

      def show
        render json: @user.bookings.find(params[:id])
      end

      private

      def authenticate_token!
        @user = User.find_by(api_token: request.headers["X-Api-Token"])
        head :unauthorized unless @user
      end
    end
  end
end
