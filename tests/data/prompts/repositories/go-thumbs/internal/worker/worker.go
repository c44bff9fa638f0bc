package worker

import (
	"context"
	"fmt"
	"log/slog"

	"example.com/thumbs/internal/blob"
	"example.com/thumbs/internal/queue"
	"example.com/thumbs/internal/resize"
)

const maxAttempts = 3

type Worker struct {
	q     *queue.Queue
	store blob.Store
}

func New(q *queue.Queue, s blob.Store) *Worker { return &Worker{q: q, store: s} }

func (w *Worker) Loop(ctx context.Context) error {
	for {
		j, err := w.q.Pop(ctx)
		if err != nil {
			return err
		}
		if err := w.handle(ctx, j); err != nil {
			slog.Error("job failed", "id", j.ID, "err", err)
			w.q.SetStatus(ctx, j.ID, "failed")
		}
	}
}

func (w *Worker) handle(ctx context.Context, j queue.Job) error {
	for _, size := range j.Sizes {
		b, err := resize.Thumb(j.Data, size)
		if err != nil {
			return fmt.Errorf("thumb %d: %w", size, err)
		}
		if err := w.store.Put(ctx, fmt.Sprintf("%s/%d.jpg", j.ID, size), b); err != nil {
			return err
		}
	}
	return w.q.SetStatus(ctx, j.ID, "done")
}
