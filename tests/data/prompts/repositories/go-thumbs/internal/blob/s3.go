package blob

import (
	"bytes"
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

type S3 struct {
	bucket string
	client *s3.Client
}

func NewS3(bucket string) *S3 { return &S3{bucket: bucket} }

func (s *S3) Put(ctx context.Context, key string, data []byte) error {
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &key, Body: bytes.NewReader(data)})
	return err
}

func (s *S3) Get(ctx context.Context, key string) ([]byte, error) { return nil, nil }
