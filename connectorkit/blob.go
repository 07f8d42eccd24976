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

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/protocol"
)

// defaultBlobBytes is what the runner takes of a file when nobody says otherwise.
const defaultBlobBytes = 25 << 20

// SavedBlob is a file that waits in the run's working directory for the record that names it.
type SavedBlob struct {
	SHA256 string // in lower-case hex
	Bytes  int64
	// TooLarge means that the owner keeps no file of this size: it was not read to its end and
	// is not there. A record that names it all the same declares it as left out.
	TooLarge bool

	path string
	dir  string
}

// Remove takes a file away that no record names after all.
func (b SavedBlob) Remove() {
	if b.path != "" {
		_ = os.Remove(filepath.Join(b.dir, b.path)) // the folder goes with the run
	}
}

// BlobRef is how the data of a record shows a file: what a manifest calls blob_ref.
type BlobRef struct {
	BlobID   string `json:"blob_id"`
	MIMEType string `json:"mime_type"`
	Bytes    int64  `json:"size_bytes"`
	SHA256   string `json:"sha256"`
}

// Ref is what the record's data says of the file; nil when it is too large.
func (b SavedBlob) Ref(mimeType string) *BlobRef {
	if b.TooLarge {
		return nil
	}
	return &BlobRef{b.SHA256, mimeType, b.Bytes, b.SHA256}
}

// As is the file under the member of the data that it belongs to: whoever may read that member
// may read the file. Type and name are those that the provider tells, or empty.
func (b SavedBlob) As(field, mimeType, name string) Blob {
	return Blob{saved: b, field: field, mimeType: mimeType, name: name}
}

// Blob is a file of a record.
type Blob struct {
	saved                 SavedBlob
	field, mimeType, name string
}

// WithBlobs gives the record its files, each saved for it alone. A record that is emitted without
// this keeps those that it has; with no files at all it loses them.
func (r Record) WithBlobs(blobs ...Blob) Record {
	r.blobs = append([]Blob{}, blobs...)
	return r
}

// BlobLimit is the largest file that the owner keeps, in bytes; negative means that there is no
// bound. What a provider announces as larger need not be fetched: see TooLarge.
func (s *Setup) BlobLimit() int64 {
	n, err := strconv.ParseInt(s.r.p.Env("PDPP_MAX_BLOB_BYTES"), 10, 64)
	if err != nil || n == 0 {
		return defaultBlobBytes
	}
	return n
}

// TooLarge is a file that was not fetched, because its provider says that it is larger than the
// owner keeps.
func TooLarge() SavedBlob { return SavedBlob{TooLarge: true} }

// SaveBlob writes what r gives into the run's working directory, in one pass and with little
// memory. An error of r is returned as it is, for the author to classify.
func (s *Setup) SaveBlob(ctx context.Context, r io.Reader) (SavedBlob, error) {
	w, err := s.NewBlob()
	if err != nil {
		return SavedBlob{}, err
	}
	if w.limit >= 0 {
		r = io.LimitReader(r, w.limit+1)
	}
	if _, err := io.Copy(w, ended{ctx, r}); err != nil {
		w.Discard()
		return SavedBlob{}, err
	}
	return w.Save()
}

// BlobWriter takes a file that comes in pieces, beside others. What comes beyond the owner's limit
// is passed over, so that whatever else is made of it goes on. It ends with Save or Discard.
type BlobWriter struct {
	file  *os.File // nil once it is closed
	path  string
	sum   hash.Hash
	n     int64
	limit int64
}

// NewBlob begins a file in the run's working directory.
func (s *Setup) NewBlob() (*BlobWriter, error) { return NewBlobIn(s.r.p.Dir, s.BlobLimit()) }

// NewBlobIn begins a file in a folder, for whoever tests what a connector is made of. An empty name
// means where the process is, and a negative limit none.
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
	if w.tooLarge() {
		w.Discard() // the room is better used
		return len(b), nil
	}
	_, _ = w.sum.Write(b) // a hash never fails
	if _, err := w.file.Write(b); err != nil {
		return 0, fmt.Errorf("save a file: %w", err)
	}
	return len(b), nil
}

func (w *BlobWriter) tooLarge() bool { return w.limit >= 0 && w.n > w.limit }

// Save ends the file. It waits for the record that names it.
func (w *BlobWriter) Save() (SavedBlob, error) {
	if w.tooLarge() {
		w.Discard()
		return TooLarge(), nil
	}
	f := w.file
	if w.file = nil; f == nil {
		return SavedBlob{}, errors.New("save a file: it has ended")
	}
	if err := f.Close(); err != nil {
		_ = os.Remove(w.path)
		return SavedBlob{}, fmt.Errorf("save a file: %w", err)
	}
	return SavedBlob{SHA256: hex.EncodeToString(w.sum.Sum(nil)), Bytes: w.n, path: filepath.Base(w.path), dir: filepath.Dir(w.path)}, nil
}

// Discard takes the file away, unless it has ended.
func (w *BlobWriter) Discard() {
	if w.file != nil {
		_ = w.file.Close()
		_ = os.Remove(w.path) // the folder goes with the run
		w.file = nil
	}
}

// ended is a reader that ends with its context.
type ended struct {
	ctx context.Context
	r   io.Reader
}

func (e ended) Read(b []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, errors.Join(err, context.Cause(e.ctx))
	}
	return e.r.Read(b)
}

// named are the files of a record as they are sent, as far as its data has the members that they
// belong to, and how many are too large.
func (r Record) named(data jsontext.Value) (blobs []protocol.Blob, tooLarge int, err error) {
	if r.blobs == nil {
		return nil, 0, nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, 0, err
	}
	blobs = []protocol.Blob{}
	for _, b := range r.blobs {
		if _, there := members[b.field]; !there {
			continue // nobody asked for it
		}
		if b.saved.TooLarge {
			tooLarge++
			continue
		}
		blobs = append(blobs, protocol.Blob{Field: b.field, Path: b.saved.path, MIME: b.mimeType, Name: b.name})
	}
	return blobs, tooLarge, nil
}

// declareTooLarge tells that files of a record are larger than the owner keeps.
func (r *run) declareTooLarge(ctx context.Context, stream, key string, files int) error {
	ids := make([]string, files)
	for i := range ids {
		ids[i] = key
	}
	return r.out.send(ctx, &protocol.SkipResult{Stream: stream, Reason: protocol.ReasonBlobTooLarge, ResourceIDs: ids,
		RecoveryHint: &protocol.RecoveryHint{Action: protocol.ManualActionRequired}})
}
