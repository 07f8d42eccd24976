// Package blob stores files by their content: data of records that is too large, or not JSON. A file is named by its
// SHA-256, written completely or not at all, and durable before any record refers to it. The database knows the
// references; Sweep removes files without one.
package blob

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrNotFound means that there is no file with this hash.
var ErrNotFound = errors.New("no such file")

// Storage stores files. Methods are safe for concurrent use, also by several processes.
type Storage interface {
	// Put stores the content of r and returns its hash. The file is durable when Put returns; an error, also of r,
	// leaves none. Putting an existing file again renews its age.
	Put(ctx context.Context, r io.Reader) (sha256 string, bytes int64, err error)
	// Open returns the content, or ErrNotFound. It can be read until it is closed, even after ctx has ended.
	Open(ctx context.Context, sha256 string) (File, error)
	// Stat returns size and age, or ErrNotFound.
	Stat(ctx context.Context, sha256 string) (StoredFile, error)
	// Remove deletes a file, if it exists.
	Remove(ctx context.Context, sha256 string) error
	// List calls use for every file, in any order. It also deletes what an interrupted Put left before the given
	// time.
	List(ctx context.Context, before time.Time, use func(StoredFile) error) error
}

// File is the content of a file, with random access.
type File interface {
	io.ReadSeekCloser
	Bytes() int64
}

// StoredFile describes a stored file.
type StoredFile struct {
	SHA256 string
	Bytes  int64
	At     time.Time // time of the last Put
}

// MissingFiles returns those of the hashes that have no file.
func MissingFiles(ctx context.Context, p Storage, hashes []string) (missing []string, err error) {
	for _, h := range hashes {
		_, err := p.Stat(ctx, h)
		if errors.Is(err, ErrNotFound) {
			missing = append(missing, h)
		} else if err != nil {
			return nil, err
		}
	}
	return missing, nil
}
