module Api
  module V1
    class StationsController < ActionController::API
      def index
        render json: Station.all.map { |s| { id: s.id, name: s.name, free: s.free_slots } }
      end

      def show
        render json: Station.find(params[:id])
      end
    end
  end
end
