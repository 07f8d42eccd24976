package connectorkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
func (s *Setup) SaveBlob(ctx context.Context, r io.Reader) (saved SavedBlob, err error) {
	dir := s.r.p.Dir
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "blob-")
	if err != nil {
		return saved, fmt.Errorf("save a file: %w", err)
	}
	defer func() {
		if closed := f.Close(); err == nil && closed != nil {
			err = fmt.Errorf("save a file: %w", closed)
		}
		if err != nil || saved.TooLarge {
			_ = os.Remove(f.Name())
		}
	}()
	limit, sum := s.BlobLimit(), sha256.New()
	if limit >= 0 {
		r = io.LimitReader(r, limit+1)
	}
	n, err := io.Copy(io.MultiWriter(f, sum), ended{ctx, r})
	switch {
	case err != nil:
		return saved, err
	case limit >= 0 && n > limit:
		return TooLarge(), nil
	}
	return SavedBlob{SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: n, path: filepath.Base(f.Name())}, nil
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
