package main

import (
	"log/slog"
	"net/http"
	"os"

	"example.com/thumbs/internal/api"
	"example.com/thumbs/internal/conf"
	"example.com/thumbs/internal/queue"
)

func main() {
	cfg, err := conf.FromEnv()
	if err != nil {
		slog.Error("config", "err", err)
		os.Exit(1)
	}
	q := queue.New(cfg.RedisAddr)
	srv := &http.Server{Addr: cfg.Listen, Handler: api.Routes(q, cfg)}
	if err := srv.ListenAndServe(); err != nil {
		slog.Error("serve", "err", err)
	}
}
