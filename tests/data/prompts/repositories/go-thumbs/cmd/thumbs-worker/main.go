package main

import (
	"context"
	"log/slog"

	"example.com/thumbs/internal/blob"
	"example.com/thumbs/internal/conf"
	"example.com/thumbs/internal/queue"
	"example.com/thumbs/internal/worker"
)

func main() {
	cfg, _ := conf.FromEnv()
	w := worker.New(queue.New(cfg.RedisAddr), blob.NewS3(cfg.Bucket))
	if err := w.Loop(context.Background()); err != nil {
		slog.Error("worker", "err", err)
	}
}
