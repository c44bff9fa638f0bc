package api

import (
	"encoding/json"
	"io"
	"net/http"

	"example.com/thumbs/internal/queue"
)

func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "read", http.StatusBadRequest)
		return
	}
	if len(body) > s.cfg.MaxUploadMB<<20 {
		http.Error(w, "too large", http.StatusBadRequest)
		return
	}
	id, err := s.q.Enqueue(r.Context(), queue.Job{Data: body, Sizes: []int{64, 256, 1024}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	json.NewEncoder(w).Encode(map[string]string{"id": id})
}
