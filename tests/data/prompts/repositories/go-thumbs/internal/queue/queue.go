package queue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"
)

const jobTTL = 24 * time.Hour

type Job struct {
	ID    string `json:"id"`
	Data  []byte `json:"data"`
	Sizes []int  `json:"sizes"`
}

type Queue struct{ rdb *redis.Client }

func New(addr string) *Queue {
	return &Queue{rdb: redis.NewClient(&redis.Options{Addr: addr})}
}

func (q *Queue) Enqueue(ctx context.Context, j Job) (string, error) {
	j.ID = newID()
	b, err := json.Marshal(j)
	if err != nil {
		return "", err
	}
	if err := q.rdb.LPush(ctx, "thumbs:jobs", b).Err(); err != nil {
		return "", err
	}
	return j.ID, q.rdb.Set(ctx, "thumbs:status:"+j.ID, "queued", jobTTL).Err()
}

func (q *Queue) Pop(ctx context.Context) (Job, error) {
	var j Job
	res, err := q.rdb.BRPop(ctx, 0, "thumbs:jobs").Result()
	if err != nil {
		return j, err
	}
	return j, json.Unmarshal([]byte(res[1]), &j)
}

func (q *Queue) Status(ctx context.Context, id string) (string, error) {
	return q.rdb.Get(ctx, "thumbs:status:"+id).Result()
}

func (q *Queue) SetStatus(ctx context.Context, id, st string) error {
	return q.rdb.Set(ctx, "thumbs:status:"+id, st, jobTTL).Err()
}

func (q *Queue) Drop(ctx context.Context, id string) error {
	return q.rdb.Del(ctx, "thumbs:status:"+id).Err()
}
