package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MaxFile is the largest manifest.json or adapter.json that is read, in bytes.
const MaxFile = 1 << 20

// errNotRegular reports a link, a pipe, a device or a folder in place of a file.
var errNotRegular = errors.New("is not a regular file")

// ReadFile reads a file of a connector's folder. It follows no link, never blocks, and returns an error for
// everything but a regular file of at most MaxFile bytes, because the connector may have put it there.
func ReadFile(dir, name string) ([]byte, error) { return ReadLimited(dir, name, MaxFile) }

// ReadLimited is ReadFile with another limit in bytes.
func ReadLimited(dir, name string, limit int64) ([]byte, error) {
	path := filepath.Join(dir, name)
	// The type is checked before and after opening, because opening a device may have an effect.
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollowFlags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	body, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(body)) > limit {
		return nil, fmt.Errorf("is larger than %d KiB", limit>>10)
	}
	return body, err
}

// describeReadError describes why ReadFile failed.
func describeReadError(err error) string {
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return "cannot be read"
	}
	return err.Error()
}
