package api

import (
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/thumbs/internal/conf"
)

func TestUploadTooLarge(t *testing.T) {
	s := &server{cfg: conf.Config{MaxUploadMB: 0}}
	w := httptest.NewRecorder()
	s.upload(w, httptest.NewRequest("POST", "/v1/images", strings.NewReader("x")))
	if w.Code != 400 {
		t.Fatalf("got %d", w.Code)
	}
}
