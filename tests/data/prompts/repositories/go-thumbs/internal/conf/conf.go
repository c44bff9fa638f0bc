package conf

import (
	"errors"
	"os"
	"strconv"
)

type Config struct {
	Listen      string
	RedisAddr   string
	Bucket      string
	MaxUploadMB int
}

var ErrMissingBucket = errors.New("THUMBS_BUCKET is not set")

func FromEnv() (Config, error) {
	c := Config{Listen: ":8080", RedisAddr: "localhost:6379", MaxUploadMB: 10}
	if v := os.Getenv("THUMBS_LISTEN"); v != "" {
		c.Listen = v
	}
	if v := os.Getenv("THUMBS_MAX_UPLOAD_MB"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			return c, err
		}
		c.MaxUploadMB = n
	}
	c.Bucket = os.Getenv("THUMBS_BUCKET")
	if c.Bucket == "" {
		return c, ErrMissingBucket
	}
	return c, nil
}
