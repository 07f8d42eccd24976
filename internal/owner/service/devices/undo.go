package devices

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	undoRecordsPerCommit = 500              // records per commit
	undoLeaseTime        = 10 * time.Minute // lease of the run that undoes uploads
)

// UndoDevice undoes the uploads of a revoked device since a time. It works by source and page; a call after an
// interruption continues.
func (s *Registry) UndoDevice(ctx context.Context, id string, since time.Time) (api.DeviceUndone, error) {
	done := api.DeviceUndone{Since: since.UTC(), RunIDs: []string{}}
	device, err := s.store.Device(ctx, id)
	if err != nil {
		return done, deviceError(err, "find the device")
	}
	if since.IsZero() || since.After(s.now()) {
		return done, api.Invalid("since", "This time is not in the past.", "Use the time when you last had the device.")
	}
	if device.Status != store.DeviceRevoked {
		return done, &api.Error{Status: http.StatusConflict, Code: "device_active", Message: "The device is still active.",
			Next: "Revoke it first."}
	}
	sources, err := s.store.DeviceSources(ctx, id)
	if err != nil {
		return done, faults.OwnerError(err, "list the sources of the device")
	}
	for _, src := range sources {
		if err := s.undoSource(ctx, src, since, &done); err != nil {
			return done, faults.OwnerError(err, "take back what the device sent")
		}
	}
	return done, nil
}

// undoSource undoes the uploads of one source. It resets the bookmarks first, so that everything before them is read
// again after an interruption.
func (s *Registry) undoSource(ctx context.Context, src store.DeviceSource, since time.Time,
	done *api.DeviceUndone) error {
	page, err := s.store.UploadedSince(ctx, src.ID, since, 0, undoRecordsPerCommit)
	if err != nil {
		return err
	}
	gaps, err := s.store.RecoveredSince(ctx, src.ID, since)
	if err != nil {
		return err
	}
	cursors, err := s.cursorsBefore(ctx, src.ConnectionID, since)
	if err != nil || len(page)+len(gaps)+len(cursors) == 0 {
		return err
	}
	m, err := s.find.DeclaredManifest(ctx, src.ConnectorID)
	if err != nil {
		return err
	}
	run := store.RunStart{RunID: "run_" + strings.ToLower(rand.Text()), ConnectionID: src.ConnectionID,
		ConnectorID: src.ConnectorID, Trigger: store.TriggerUndo,
		Holder: "undo:" + src.ID, TTL: undoLeaseTime, Streams: launch.StreamSpecs(m)}
	lease, err := s.store.StartRun(ctx, run, s.now())
	if err != nil {
		return err
	}
	done.RunIDs = append(done.RunIDs, run.RunID)
	before := done.Restored + done.Deleted
	err = s.undoUploads(ctx, lease, src, since, page, gaps, cursors, done)
	end := store.RunOutcome{Status: store.RunSucceeded, RecordsEmitted: done.Restored + done.Deleted - before,
		Event: slice.Event{Type: "run.completed"}}
	if err != nil {
		end.Status, end.TerminalReason, end.Event.Type = store.RunFailed, "undo_failed", "run.failed"
	}
	// Finish the run even if the request was cancelled.
	ended := s.store.FinishRun(context.WithoutCancel(ctx), lease, end, s.now())
	return errors.Join(err, ended)
}

func (s *Registry) undoUploads(ctx context.Context, lease store.Lease, src store.DeviceSource, since time.Time,
	page []store.UploadedRecord, gaps []store.Gap, cursors []slice.Cursor, done *api.DeviceUndone) error {
	first := slice.Slice{Cursors: cursors}
	for _, g := range gaps {
		first.Gaps = append(first.Gaps, slice.Gap{Stream: g.Stream, ParentStream: g.ParentStream, RecordKey: g.RecordKey,
			Reason: g.Reason, Retryable: true,
			Locator: g.Locator, ListCursor: g.ListCursor, LastError: g.LastError})
	}
	if _, err := s.store.CommitSlice(ctx, lease, first, s.now()); err != nil {
		return err
	}
	done.Bookmarks += int64(len(cursors))
	done.Gaps += int64(len(gaps))
	for len(page) > 0 {
		now := s.now()
		if _, err := s.store.RenewLease(ctx, lease, undoLeaseTime, now); err != nil {
			return err
		}
		var part slice.Slice
		for _, u := range page {
			if u.Before.Deleted() {
				u.Before.EmittedAt = now.UTC().Format(time.RFC3339Nano)
			}
			part.Records = append(part.Records, u.Before)
		}
		if _, err := s.store.CommitSlice(ctx, lease, part, now); err != nil {
			return err
		}
		for _, u := range page {
			if u.Before.Deleted() {
				done.Deleted++
			} else {
				done.Restored++
			}
		}
		var err error
		if page, err = s.store.UploadedSince(ctx, src.ID, since, page[len(page)-1].ID, undoRecordsPerCommit); err != nil {
			return err
		}
	}
	return nil
}

// cursorsBefore returns the bookmarks that changed since a time, with their value at that time. If the log does not go
// back that far, the bookmark is cleared and everything is read again.
func (s *Registry) cursorsBefore(ctx context.Context, connectionID string, since time.Time) (out []slice.Cursor,
	err error) {
	for _, mode := range []protocol.CursorMode{protocol.SteadyState, protocol.CatchUp} {
		streams, err := s.store.Streams(ctx, connectionID)
		if err != nil {
			return nil, err
		}
		for _, stream := range streams {
			log, err := s.store.CursorLog(ctx, store.CursorID{ConnectionID: connectionID, Stream: stream.Name, Mode: mode},
				1<<20)
			if err != nil {
				return nil, err
			}
			if c, moved := cursorBefore(log, since); moved {
				out = append(out, slice.Cursor{Stream: stream.Name, Mode: mode, Cursor: c.Cursor})
			}
		}
	}
	return out, nil
}

// cursorBefore returns the value that was current at a time, from a log with the newest entry first. Moved is false if
// that value is still current. A later rewind to before that time stays.
func cursorBefore(log []store.CursorCommit, since time.Time) (c store.CursorCommit, moved bool) {
	if len(log) == 0 || log[0].At.Before(since) {
		return c, false
	}
	for _, entry := range log {
		if entry.At.Before(since) {
			c = entry
			break
		}
	}
	return c, string(c.Cursor) != string(log[0].Cursor)
}
