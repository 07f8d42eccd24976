package runner

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pdpp-go/pdpp/internal/collect/blobfile"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// BlobStore stores the files that records refer to, under the hash of their content.
type BlobStore interface {
	// Put stores the bytes of r durably and returns their hash and number. It returns r's own errors unchanged.
	Put(ctx context.Context, r io.Reader) (sha256 string, bytes int64, err error)
}

// BlobLimits bound the files of a run, in bytes. Zero means the default, a negative number no limit.
type BlobLimits struct {
	Each int64 // a larger file is skipped and reported
	Run  int64 // further files wait for a later run
	Room int64 // further files wait until there is free space
}

// Defaults: the size of a mail attachment that providers accept, and what one run may add to a small disk.
const (
	DefaultBlobBytes    = 25 << 20
	DefaultRunBlobBytes = 2 << 30
)

func (l BlobLimits) withDefaults() BlobLimits {
	if l.Each == 0 {
		l.Each = DefaultBlobBytes
	}
	if l.Run == 0 {
		l.Run = DefaultRunBlobBytes
	}
	if l.Room == 0 {
		l.Room = -1
	}
	return l
}

// Reasons for which a file is not stored.
var (
	errBlobTooLarge = errors.New("the file exceeds the size limit of a file")
	errBlobRunFull  = errors.New("the files of this run exceed the size limit of a run")
	errBlobNoRoom   = errors.New("there is no space for more files")
	errBlobStorage  = errors.New("the file could not be stored")
)

// blobIntake stores the files that the connector leaves in its working directory.
type blobIntake struct {
	store  BlobStore // nil: no file is stored
	folder blobfile.Folder
	limits BlobLimits
	bytes  int64 // stored by this run
}

// storeFile stores one file of a record. A failure of the store wraps errBlobStorage; every other error is about the
// connector's file or the limits.
func (b *blobIntake) storeFile(ctx context.Context, file *protocol.Blob) (slice.Blob, error) {
	out := slice.Blob{Field: file.Field, MIME: blobfile.MediaType(file.MIME), Name: blobfile.FileName(file.Name),
		Path: file.Path}
	if b.store == nil {
		return out, errBlobNoRoom
	}
	f, err := b.folder.OpenFile(file.Path)
	if err != nil {
		return out, err
	}
	defer func() { _ = f.Close() }()
	r, err := blobfile.NewLimitReader(f,
		blobfile.SizeLimit{Bytes: b.limits.Each, Err: errBlobTooLarge},
		blobfile.SizeLimit{Bytes: b.limits.Run, Err: errBlobRunFull}.Minus(b.bytes),
		blobfile.SizeLimit{Bytes: b.limits.Room, Err: errBlobNoRoom}.Minus(b.bytes))
	if err != nil {
		return out, err
	}
	out.SHA256, out.Bytes, err = b.store.Put(ctx, r)
	switch {
	case r.Err() != nil: // the connector's file could not be read
		return out, r.Err()
	case err != nil:
		return out, fmt.Errorf("%w: %w", errBlobStorage, err)
	}
	b.bytes += out.Bytes
	return out, nil
}

// storeBlobs stores the files of a record. The record is stored without the files that failed, and those are
// declared missing. The files are durable before the record can be (invariant 26).
func (s *session) storeBlobs(ctx context.Context, st *stream, m *protocol.Record) ([]slice.Blob, error) {
	if m.Blobs == nil {
		return nil, nil
	}
	out := make([]slice.Blob, 0, len(m.Blobs))
	for i := range m.Blobs {
		stored, err := s.blobs.storeFile(ctx, &m.Blobs[i])
		switch {
		case err == nil:
			out = append(out, stored)
		case errors.Is(err, errBlobStorage):
			return nil, s.secrets.storageFailure(err)
		case errors.Is(err, errBlobTooLarge):
			st.tooLarge++
		default:
			s.addBlobGap(st, m.Key, err)
		}
	}
	return out, nil
}

// addBlobGap declares that a file of a record is missing, so that a later run fetches it.
func (s *session) addBlobGap(st *stream, key string, why error) {
	reason, class := protocol.ReasonBlobFailed, string(protocol.ReasonBlobFailed)
	switch {
	case errors.Is(why, errBlobRunFull): // RT-17: reaching the cap of a run is no failure
		reason, class = protocol.ReasonRetryExhausted, protocol.ClassRunCap
	case errors.Is(why, errBlobNoRoom):
		reason, class = protocol.ReasonBlobNoRoom, string(protocol.ReasonBlobNoRoom)
	}
	st.setRejected(key, reason) // so that this record does not settle an earlier gap of the key
	s.addGap(st, slice.Gap{Stream: st.name, ParentStream: s.streams.onlyParent(st), RecordKey: key, Reason: reason,
		Retryable: true, LastError: s.secrets.sanitizeObject(map[string]any{"class": class})})
	s.summary.countGap(&protocol.DetailGap{Stream: st.name, Reason: reason,
		Detail: &protocol.GapDetail{Class: class}})
}

// knownTooLarge returns the number of files that were skipped because of their size, by stream.
func (s *streamSet) knownTooLarge() (out []KnownGap) {
	for _, st := range s.order {
		if st.tooLarge > 0 {
			out = append(out, informationalGap(protocol.ReasonBlobTooLarge, st.name, st.tooLarge))
		}
	}
	return out
}

// informationalGap returns a known gap that needs no retry.
func informationalGap(reason protocol.Reason, stream string, count int64) KnownGap {
	return KnownGap{Kind: protocol.KnownSkipResult, Reason: string(reason),
		Severity: protocol.SeverityInformational, Stream: stream,
		Count: count, Message: protocol.OwnerCopy(reason, ""),
		RecoveryHint: protocol.RecoveryHint{Action: protocol.ManualActionRequired}}
}
