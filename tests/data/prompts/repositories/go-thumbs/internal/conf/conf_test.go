package conf

import "testing"

func TestFromEnvNeedsBucket(t *testing.T) {
	t.Setenv("THUMBS_BUCKET", "")
	if _, err := FromEnv(); err != ErrMissingBucket {
		t.Fatalf("got %v", err)
	}
}
