package api

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"example.com/thumbs/internal/conf"
	"example.com/thumbs/internal/queue"
)

type server struct {
	q   *queue.Queue
	cfg conf.Config
}

func Routes(q *queue.Queue, cfg conf.Config) http.Handler {
	s := &server{q: q, cfg: cfg}
	r := chi.NewRouter()
	r.Use(requestID, logging)
	r.Post("/v1/images", s.upload)
	r.Get("/v1/images/{id}", s.status)
	r.Delete("/v1/images/{id}", s.remove)
	r.Get("/healthz", s.healthz)
	return r
}
