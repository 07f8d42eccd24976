// Package blob keeps files by their content: what a record refers to and is too large, or too
// foreign, to be part of it. A file is named by the SHA-256 of what it holds, written whole or
// not at all, and there before anything refers to it. Which records do, a database knows; Sweep
// takes away what none does.
package blob

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrNotFound says that no file has this content.
var ErrNotFound = errors.New("there is no such file")

// Place keeps files. Methods are safe for concurrent use, by several processes too.
type Place interface {
	// Put keeps what r gives, to its end, and names it. The file is durable when it returns; an
	// error, of r too, leaves none. One that is there already is as young as a new one then.
	Put(ctx context.Context, r io.Reader) (sha256 string, bytes int64, err error)
	// Open gives the content; ErrNotFound when there is none. It is read until it is closed, also
	// when ctx has ended.
	Open(ctx context.Context, sha256 string) (File, error)
	// Stat tells size and age; ErrNotFound when there is none.
	Stat(ctx context.Context, sha256 string) (Entry, error)
	// Remove takes a file away, if it is there.
	Remove(ctx context.Context, sha256 string) error
	// List hands over every file, in any order, and what an interrupted Put left before the
	// given time is gone when it returns.
	List(ctx context.Context, before time.Time, use func(Entry) error) error
}

// File is the content of a file, to be read from anywhere.
type File interface {
	io.ReadSeekCloser
	Bytes() int64
}

// Entry is a file of a place.
type Entry struct {
	SHA256 string
	Bytes  int64
	At     time.Time // of the last Put
}

// Missing gives those of the hashes that a place has no file for.
func Missing(ctx context.Context, p Place, hashes []string) (missing []string, err error) {
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
