class StationsController < ApplicationController
  skip_before_action :authenticate_user!, only: %i[index show]

  def index
    @stations = Station.order(:name)
  end

  def show
    @station = Station.find(params[:id])
    @bikes = @station.bikes.available
  end
end
