package deviceapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/blobfile"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/protocol"
)

func (a *api) blobRoutes() []reply.Route {
	const file = wire.Root + "/{device}/source-instances/{source}/blobs/{sha256}"
	return []reply.Route{
		{Pattern: "GET " + file, Handle: a.source(a.readBlob)},
		{Pattern: "PUT " + file, Handle: a.source(a.putBlob)},
	}
}

// readBlob returns how much of a file the server has received from the source.
func (a *api) readBlob(w http.ResponseWriter, r *http.Request, c caller) error {
	hash := r.PathValue("sha256")
	if err := a.checkHash(hash); err != nil {
		return err
	}
	n, whole, err := a.Uploads.UploadProgress(r.Context(), c.Source.ID, hash)
	if err == nil && !whole {
		whole, err = a.referred(r.Context(), c, hash)
	}
	if err != nil {
		return fmt.Errorf("look at an upload: %w", err)
	}
	reply.JSON(w, http.StatusOK, wire.Blob{Object: wire.ObjectBlob, SHA256: hash, Received: n, Whole: whole})
	return nil
}

// keepsFiles reports whether files can be uploaded.
func (a *api) keepsFiles() bool { return a.Uploads != nil }

func (a *api) checkHash(hash string) error {
	if !a.keepsFiles() {
		return &usererr.Error{Status: http.StatusServiceUnavailable, Code: wire.CodeIngestRetryable,
			Message: "The server keeps no files.", Next: "Update the server.", RetryAfter: retryLater}
	}
	if !protocol.IsBlobHash(hash) {
		return invalid("sha256", "This is not the hash of a file.")
	}
	return nil
}

// putBlob receives a piece of a file. The bytes that arrived are kept when the connection breaks.
func (a *api) putBlob(w http.ResponseWriter, r *http.Request, c caller) error {
	hash := r.PathValue("sha256")
	if err := a.checkHash(hash); err != nil {
		return err
	}
	offset, err1 := strconv.ParseInt(r.Header.Get(wire.OffsetHeader), 10, 64)
	total, err2 := strconv.ParseInt(r.Header.Get(wire.LengthHeader), 10, 64)
	if err1 != nil || err2 != nil || offset < 0 || total < offset {
		return invalid(wire.OffsetHeader, "The piece does not say where it begins, or how long the file is.")
	}
	if a.BlobBytes >= 0 && total > a.BlobBytes {
		return &usererr.Error{Status: http.StatusBadRequest, Code: wire.CodeBlobTooLarge, Param: wire.LengthHeader,
			Message: "The owner keeps no file of this size.", Next: "Send the record without it."}
	}
	free, err := a.admission.reserve(r.Context(), slowest)
	if err != nil {
		return err
	}
	defer free()
	done, err := a.admission.lockSource(r.Context(), c.Source.ID+" "+hash) // pieces arrive in order
	if err != nil {
		return err
	}
	defer done()
	paced := &pacedBody{from: http.MaxBytesReader(w, r.Body, wire.BlobPiece), control: http.NewResponseController(w),
		began: time.Now()}
	n, whole, err := a.Uploads.ReceivePiece(r.Context(), c.Source.ID, hash, total, offset, paced)
	_ = paced.control.SetWriteDeadline(time.Now().Add(answerTime)) // not every writer has deadlines
	switch {
	case errors.Is(err, blob.ErrWrongOffset):
		return &usererr.Error{Status: http.StatusConflict, Code: wire.CodeBlobOffset, Param: wire.OffsetHeader,
			Message: "The file goes on elsewhere.", Next: "Ask where it goes on."}
	case errors.Is(err, blob.ErrContentMismatch):
		return &usererr.Error{Status: http.StatusBadRequest, Code: wire.CodeBlobContent,
			Message: "The file does not hold what its name says.", Next: "Send it from its beginning."}
	case err != nil && paced.failed != nil:
		return badBody(paced.failed)
	case err != nil:
		return unwritable(err)
	}
	reply.JSON(w, http.StatusOK, wire.Blob{Object: wire.ObjectBlob, SHA256: hash, Received: n, Whole: whole})
	return nil
}

// referred reports whether a record of the caller's connection has the file.
func (a *api) referred(ctx context.Context, c caller, hash string) (bool, error) {
	_, err := a.Store.FindBlob(ctx, hash, []store.AccessFilter{{ConnectionID: c.Connection.ID}})
	if err == nil {
		_, err = a.Blobs.Stat(ctx, hash)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// files keeps the files of a batch's records that the source has uploaded. A record that names another file is
// stored without it, and a gap is declared: knowing a hash is no right to a file.
func (a *api) files(ctx context.Context, c caller, g *gates, found *sorted) error {
	for i := range found.taken {
		r := &found.taken[i]
		kept := r.Blobs[:0]
		for _, b := range r.Blobs {
			has, err := a.has(ctx, c, b.SHA256)
			if err != nil {
				return err
			}
			if has {
				kept = append(kept, b)
				continue
			}
			found.missing = append(found.missing, slice.Gap{Stream: r.Stream, ParentStream: g.parent(r.Stream, ""),
				RecordKey: r.Key, Reason: protocol.ReasonBlobFailed, Retryable: true})
		}
		if len(kept) > 0 && len(kept) == len(r.Blobs) { // a file that was missing has arrived
			found.fixed = append(found.fixed, wire.GapIdentity{Stream: r.Stream, RecordKey: r.Key})
		}
		if r.Blobs != nil {
			r.Blobs = kept
		}
	}
	return nil
}

func (a *api) has(ctx context.Context, c caller, hash string) (bool, error) {
	if !a.keepsFiles() {
		return false, nil
	}
	_, whole, err := a.Uploads.UploadProgress(ctx, c.Source.ID, hash)
	if err != nil || whole {
		return whole, err
	}
	return a.referred(ctx, c, hash)
}

// namedBlobs returns the files that an uploaded record names.
func namedBlobs(m *protocol.Record) []slice.Blob {
	if m.Blobs == nil || m.Op == protocol.OpDelete {
		return nil
	}
	out := make([]slice.Blob, 0, len(m.Blobs))
	for _, b := range m.Blobs {
		out = append(out, slice.Blob{Field: b.Field, SHA256: b.SHA256, Bytes: b.Bytes,
			MIME: blobfile.MediaType(b.MIME), Name: blobfile.FileName(b.Name)})
	}
	return out
}
