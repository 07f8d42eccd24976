package connectorkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
)

// defaultBlobBytes is the runner's limit for a file if the owner sets none.
const defaultBlobBytes = 25 << 20

// SavedBlob is a file in the run's working directory that waits for its record.
type SavedBlob struct {
	SHA256 string // in lower-case hex
	Bytes  int64
	// OversizedBlob means that the file exceeds the owner's limit: it was not read completely and is not stored. A
	// record with such a file declares it as left out.
	TooLarge bool

	path string
	dir  string
}

// Remove deletes a file that no record will name.
func (b SavedBlob) Remove() {
	if b.path != "" {
		_ = os.Remove(filepath.Join(b.dir, b.path)) // the folder is deleted with the run
	}
}

// BlobRef is the form of a file in the data of a record, called blob_ref in a manifest.
type BlobRef struct {
	BlobID   string `json:"blob_id"`
	MIMEType string `json:"mime_type"`
	Bytes    int64  `json:"size_bytes"`
	SHA256   string `json:"sha256"`
}

// Ref returns the file's form in the record's data, or nil if it is too large.
func (b SavedBlob) Ref(mimeType string) *BlobRef {
	if b.TooLarge {
		return nil
	}
	return &BlobRef{b.SHA256, mimeType, b.Bytes, b.SHA256}
}

// As returns the file for the member of the data that it belongs to. Access to that member includes access to the
// file. Type and name come from the provider and may be empty.
func (b SavedBlob) As(field, mimeType, name string) Blob {
	return Blob{runstate.Blob{Field: field, Path: b.path, MimeType: mimeType, Name: name, TooLarge: b.TooLarge}}
}

// Blob is a file of a record.
type Blob struct{ content runstate.Blob }

// WithBlobs returns the record with its files, each saved only for it. A record that is emitted without WithBlobs
// keeps its files; WithBlobs without arguments removes them.
func (r Record) WithBlobs(blobs ...Blob) Record {
	r.content.Blobs = make([]runstate.Blob, len(blobs))
	for i, b := range blobs {
		r.content.Blobs[i] = b.content
	}
	return r
}

// BlobLimit returns the owner's limit for a file in bytes. A negative number means no limit. Larger files need
// not be fetched: see OversizedBlob.
func (s *Setup) BlobLimit() int64 {
	n, err := strconv.ParseInt(s.r.Env("PDPP_MAX_BLOB_BYTES"), 10, 64)
	if err != nil || n == 0 {
		return defaultBlobBytes
	}
	return n
}

// OversizedBlob returns a file that was not fetched, because the provider announced more than the owner's limit.
func OversizedBlob() SavedBlob { return SavedBlob{TooLarge: true} }

// SaveBlob copies r to the run's working directory, in one pass and with little memory. It returns an error of r
// unchanged, so that the author can classify it.
func (s *Setup) SaveBlob(ctx context.Context, r io.Reader) (SavedBlob, error) {
	w, err := s.NewBlob()
	if err != nil {
		return SavedBlob{}, err
	}
	if w.limit >= 0 {
		r = io.LimitReader(r, w.limit+1)
	}
	if _, err := io.Copy(w, contextReader{ctx, r}); err != nil {
		w.Discard()
		return SavedBlob{}, err
	}
	return w.Save()
}

// BlobWriter writes a file that arrives in pieces. It ignores content beyond the owner's limit, so that other
// uses of the content can continue. It ends with Save or Discard.
type BlobWriter struct {
	file  *os.File // nil after it is closed
	path  string
	sum   hash.Hash
	n     int64
	limit int64
}

// NewBlob creates a file in the run's working directory.
func (s *Setup) NewBlob() (*BlobWriter, error) { return NewBlobIn(s.p.Dir, s.BlobLimit()) }

// NewBlobIn creates a file in a folder, for tests of connector parts. An empty name means the current directory,
// and a negative limit means none.
func NewBlobIn(dir string, limit int64) (*BlobWriter, error) {
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "blob-")
	if err != nil {
		return nil, fmt.Errorf("save a file: %w", err)
	}
	return &BlobWriter{file: f, path: f.Name(), sum: sha256.New(), limit: limit}, nil
}

func (w *BlobWriter) Write(b []byte) (int, error) {
	w.n += int64(len(b))
	if w.exceedsLimit() {
		w.Discard() // frees the disk space
		return len(b), nil
	}
	_, _ = w.sum.Write(b) // a hash never fails
	if _, err := w.file.Write(b); err != nil {
		return 0, fmt.Errorf("save a file: %w", err)
	}
	return len(b), nil
}

func (w *BlobWriter) exceedsLimit() bool { return w.limit >= 0 && w.n > w.limit }

// Save closes the file. It then waits for its record.
func (w *BlobWriter) Save() (SavedBlob, error) {
	if w.exceedsLimit() {
		w.Discard()
		return OversizedBlob(), nil
	}
	f := w.file
	if w.file = nil; f == nil {
		return SavedBlob{}, errors.New("save a file: it has ended")
	}
	if err := f.Close(); err != nil {
		_ = os.Remove(w.path)
		return SavedBlob{}, fmt.Errorf("save a file: %w", err)
	}
	return SavedBlob{
		SHA256: hex.EncodeToString(w.sum.Sum(nil)),
		Bytes:  w.n,
		path:   filepath.Base(w.path),
		dir:    filepath.Dir(w.path),
	}, nil
}

// Discard deletes the file, unless it was saved.
func (w *BlobWriter) Discard() {
	if w.file != nil {
		_ = w.file.Close()
		_ = os.Remove(w.path) // the folder is deleted with the run
		w.file = nil
	}
}

// contextReader is a reader that ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (e contextReader) Read(b []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, errors.Join(err, context.Cause(e.ctx))
	}
	return e.r.Read(b)
}
