package api

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"
)

func (s *server) status(w http.ResponseWriter, r *http.Request) {
	st, err := s.q.Status(r.Context(), chi.URLParam(r, "id"))
	if err != nil {
		http.Error(w, "not found", http.StatusInternalServerError)
		return
	}
	json.NewEncoder(w).Encode(st)
}

func (s *server) remove(w http.ResponseWriter, r *http.Request) {
	if err := s.q.Drop(r.Context(), chi.URLParam(r, "id")); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (s *server) healthz(w http.ResponseWriter, r *http.Request) {
	w.Write([]byte("ok"))
}
