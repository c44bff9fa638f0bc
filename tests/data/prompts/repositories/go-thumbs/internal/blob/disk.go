package blob

import (
	"context"
	"os"
	"path/filepath"
)

type Disk struct{ Dir string }

func (d Disk) Put(_ context.Context, key string, data []byte) error {
	return os.WriteFile(filepath.Join(d.Dir, key), data, 0o644)
}

func (d Disk) Get(_ context.Context, key string) ([]byte, error) {
	return os.ReadFile(filepath.Join(d.Dir, key))
}
