package deviceapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/slice"
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

// readBlob tells a source how much of a file the server has of it.
func (a *api) readBlob(w http.ResponseWriter, r *http.Request, c caller) error {
	hash := r.PathValue("sha256")
	if err := a.takesBlob(hash); err != nil {
		return err
	}
	n, whole, err := a.Uploads.Received(r.Context(), c.Source.ID, hash)
	if err == nil && !whole {
		if known, err := a.referred(r.Context(), c, hash); err != nil {
			return err
		} else if known {
			whole = true
		}
	}
	if err != nil {
		return fmt.Errorf("look at an upload: %w", err)
	}
	reply.JSON(w, http.StatusOK, wire.Blob{Object: wire.ObjectBlob, SHA256: hash, Received: n, Whole: whole})
	return nil
}

func (a *api) takesBlob(hash string) error {
	if a.Blobs == nil || a.Uploads == nil {
		return &fault.Fault{Status: http.StatusServiceUnavailable, Code: wire.CodeIngestRetryable, Message: "The server keeps no files.", Next: "Update the server.", RetryAfter: retryLater}
	}
	if !protocol.IsBlobHash(hash) {
		return invalid("sha256", "This is not the hash of a file.")
	}
	return nil
}

// putBlob takes a piece of a file. What has come of it stays when the line breaks.
func (a *api) putBlob(w http.ResponseWriter, r *http.Request, c caller) error {
	hash := r.PathValue("sha256")
	if err := a.takesBlob(hash); err != nil {
		return err
	}
	offset, err1 := strconv.ParseInt(r.Header.Get(wire.OffsetHeader), 10, 64)
	total, err2 := strconv.ParseInt(r.Header.Get(wire.LengthHeader), 10, 64)
	if err1 != nil || err2 != nil || offset < 0 || total < offset {
		return invalid(wire.OffsetHeader, "The piece does not say where it begins, or how long the file is.")
	}
	if a.BlobBytes >= 0 && total > a.BlobBytes {
		return &fault.Fault{Status: http.StatusBadRequest, Code: wire.CodeBlobTooLarge, Param: wire.LengthHeader, Message: "The owner keeps no file of this size.", Next: "Send the record without it."}
	}
	free, err := a.load.room(r.Context(), slowest)
	if err != nil {
		return err
	}
	defer free()
	done, err := a.load.ofSource(r.Context(), c.Source.ID+" "+hash) // two pieces at once would be none
	if err != nil {
		return err
	}
	defer done()
	paced := &pacedBody{from: http.MaxBytesReader(w, r.Body, wire.BlobPiece), control: http.NewResponseController(w), began: time.Now()}
	n, whole, err := a.Uploads.Receive(r.Context(), c.Source.ID, hash, total, offset, paced)
	_ = paced.control.SetWriteDeadline(time.Now().Add(answerTime)) // one that cannot be set is not needed
	switch {
	case errors.Is(err, blob.ErrOffset):
		return &fault.Fault{Status: http.StatusConflict, Code: wire.CodeBlobOffset, Param: wire.OffsetHeader, Message: "The file goes on elsewhere.", Next: "Ask where it goes on."}
	case errors.Is(err, blob.ErrContent):
		return &fault.Fault{Status: http.StatusBadRequest, Code: wire.CodeBlobContent, Message: "The file does not hold what its name says.", Next: "Send it from its beginning."}
	case err != nil && paced.failed != nil:
		return badBody(paced.failed)
	case err != nil:
		return &fault.Fault{Status: http.StatusServiceUnavailable, Code: wire.CodeIngestRetryable, Message: "The server cannot write this now.", Next: "Send it again.", RetryAfter: retryLater, Err: err}
	}
	reply.JSON(w, http.StatusOK, wire.Blob{Object: wire.ObjectBlob, SHA256: hash, Received: n, Whole: whole})
	return nil
}

// referred reports whether a record of the caller's connection has that file.
func (a *api) referred(ctx context.Context, c caller, hash string) (bool, error) {
	_, err := a.Store.FindBlob(ctx, hash, []store.Part{{ConnectionID: c.Connection.ID}})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		_, err = a.Blobs.Stat(ctx, hash)
		if errors.Is(err, blob.ErrNotFound) {
			return false, nil
		}
	}
	if err != nil {
		return false, fmt.Errorf("look for a file: %w", err)
	}
	return true, nil
}

// files gives a batch's records the files that its source has brought. One that it only names goes
// without it and is declared: to know a hash is no right to a file.
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
			found.missing = append(found.missing, slice.Gap{Stream: r.Stream, ParentStream: g.parent(r.Stream, ""), RecordKey: r.Key, Reason: protocol.ReasonBlobFailed, Retryable: true})
		}
		if len(kept) > 0 && len(kept) == len(r.Blobs) { // one that was missing is there now
			found.fixed = append(found.fixed, wire.GapIdentity{Stream: r.Stream, RecordKey: r.Key})
		}
		if r.Blobs != nil {
			r.Blobs = kept
		}
	}
	return nil
}

func (a *api) has(ctx context.Context, c caller, hash string) (bool, error) {
	if a.Blobs == nil || a.Uploads == nil {
		return false, nil
	}
	_, whole, err := a.Uploads.Received(ctx, c.Source.ID, hash)
	if err != nil || whole {
		return whole, err
	}
	return a.referred(ctx, c, hash)
}

// namedBlobs are the files that an uploaded record names.
func namedBlobs(m *protocol.Record) []slice.Blob {
	if m.Blobs == nil || m.Op == protocol.OpDelete {
		return nil
	}
	out := make([]slice.Blob, 0, len(m.Blobs))
	for _, b := range m.Blobs {
		out = append(out, slice.Blob{Field: b.Field, SHA256: b.SHA256, Bytes: b.Bytes, MIME: runner.MediaType(b.MIME), Name: runner.FileName(b.Name)})
	}
	return out
}
