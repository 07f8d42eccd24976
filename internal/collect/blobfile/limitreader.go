package blobfile

import (
	"errors"
	"io"
	"os"
)

// SizeLimit is a number of bytes and the error for a file that exceeds it. A negative number is no limit.
type SizeLimit struct {
	Bytes int64
	Err   error
}

// Minus returns the limit that is left after used bytes.
func (l SizeLimit) Minus(used int64) SizeLimit {
	if l.Bytes >= 0 {
		l.Bytes = max(l.Bytes-used, 0)
	}
	return l
}

// LimitReader reads a file that may still grow, up to its limits.
type LimitReader struct {
	file   io.Reader
	limits []SizeLimit
	read   int64
	err    error
}

// NewLimitReader returns a reader of f. It fails with the error of the first limit that the file's size exceeds.
func NewLimitReader(f *os.File, limits ...SizeLimit) (*LimitReader, error) {
	r := &LimitReader{file: f, limits: limits}
	if info, err := f.Stat(); err == nil {
		return r, r.exceeded(info.Size())
	}
	return r, nil
}

func (r *LimitReader) exceeded(size int64) error {
	for _, limit := range r.limits {
		if limit.Bytes >= 0 && size > limit.Bytes {
			return limit.Err
		}
	}
	return nil
}

// Read implements io.Reader. It fails once the bytes read exceed a limit.
func (r *LimitReader) Read(p []byte) (int, error) {
	n, err := r.file.Read(p)
	r.read += int64(n)
	if over := r.exceeded(r.read); over != nil {
		n, err = 0, over
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// Err returns the error that ended reading, or nil. It tells an unreadable file from a failure of the destination.
func (r *LimitReader) Err() error { return r.err }
