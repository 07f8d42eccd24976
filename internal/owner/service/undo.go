package service

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	undoPage  = 500              // records in one commit
	undoLease = 10 * time.Minute // of the run in which it happens
)

// UndoDevice takes back what a device sent. It goes from source to source and from page to
// page: one that was broken off is taken up by asking again.
func (s *Service) UndoDevice(ctx context.Context, id string, since time.Time) (api.DeviceUndone, error) {
	done := api.DeviceUndone{Since: since.UTC(), RunIDs: []string{}}
	device, err := s.Store.Device(ctx, id)
	if err != nil {
		return done, deviceError(err, "find the device")
	}
	if since.IsZero() || since.After(s.Now()) {
		return done, api.Invalid("since", "That is not a moment before now.", "Name when the device was last in good hands.")
	}
	if device.Status != store.DeviceRevoked {
		return done, &api.Error{Status: http.StatusConflict, Code: "device_active", Message: "The device still sends.", Next: "Revoke it first."}
	}
	sources, err := s.Store.DeviceSources(ctx, id)
	if err != nil {
		return done, faults.Error(err, "list the sources of the device")
	}
	for _, src := range sources {
		if err := s.undoSource(ctx, src, since, &done); err != nil {
			return done, faults.Error(err, "take back what the device sent")
		}
	}
	return done, nil
}

// undoSource takes back what one source sent. Bookmarks go back first: whatever happens then,
// what was there before is read again.
func (s *Service) undoSource(ctx context.Context, src store.DeviceSource, since time.Time, done *api.DeviceUndone) error {
	page, err := s.Store.UploadedSince(ctx, src.ID, since, 0, undoPage)
	if err != nil {
		return err
	}
	gaps, err := s.Store.RecoveredSince(ctx, src.ID, since)
	if err != nil {
		return err
	}
	cursors, err := s.cursorsBefore(ctx, src.ConnectionID, since)
	if err != nil || len(page)+len(gaps)+len(cursors) == 0 {
		return err
	}
	m, err := s.find.Declared(ctx, src.ConnectorID)
	if err != nil {
		return err
	}
	run := store.RunStart{RunID: "run_" + strings.ToLower(rand.Text()), ConnectionID: src.ConnectionID, ConnectorID: src.ConnectorID, Trigger: store.TriggerUndo,
		Holder: "undo:" + src.ID, TTL: undoLease, Streams: launch.StreamSpecs(m)}
	lease, err := s.Store.StartRun(ctx, run, s.Now())
	if err != nil {
		return err
	}
	done.RunIDs = append(done.RunIDs, run.RunID)
	before := done.Restored + done.Deleted
	err = s.undoUnder(ctx, lease, src, since, page, gaps, cursors, done)
	end := store.RunOutcome{Status: store.RunSucceeded, RecordsEmitted: done.Restored + done.Deleted - before, Event: slice.Event{Type: "run.completed"}}
	if err != nil {
		end.Status, end.TerminalReason, end.Event.Type = store.RunFailed, "undo_failed", "run.failed"
	}
	// Whoever asked may be gone; the connection is not held for them.
	ended := s.Store.FinishRun(context.WithoutCancel(ctx), lease, end, s.Now())
	return errors.Join(err, ended)
}

func (s *Service) undoUnder(ctx context.Context, lease store.Lease, src store.DeviceSource, since time.Time, page []store.Uploaded, gaps []store.Gap, cursors []slice.Cursor, done *api.DeviceUndone) error {
	first := slice.Slice{Cursors: cursors}
	for _, g := range gaps {
		first.Gaps = append(first.Gaps, slice.Gap{Stream: g.Stream, ParentStream: g.ParentStream, RecordKey: g.RecordKey, Reason: g.Reason, Retryable: true,
			Locator: g.Locator, ListCursor: g.ListCursor, LastError: g.LastError})
	}
	if _, err := s.Store.CommitSlice(ctx, lease, first, s.Now()); err != nil {
		return err
	}
	done.Bookmarks += int64(len(cursors))
	done.Gaps += int64(len(gaps))
	for len(page) > 0 {
		now := s.Now()
		if _, err := s.Store.RenewLease(ctx, lease, undoLease, now); err != nil {
			return err
		}
		var part slice.Slice
		for _, u := range page {
			if u.Before.Deleted() {
				u.Before.EmittedAt = now.UTC().Format(time.RFC3339Nano)
			}
			part.Records = append(part.Records, u.Before)
		}
		if _, err := s.Store.CommitSlice(ctx, lease, part, now); err != nil {
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
		if page, err = s.Store.UploadedSince(ctx, src.ID, since, page[len(page)-1].ID, undoPage); err != nil {
			return err
		}
	}
	return nil
}

// cursorsBefore gives the bookmarks that moved since a moment, as they were at it. One whose
// log does not go back so far is cleared: everything is read again.
func (s *Service) cursorsBefore(ctx context.Context, connectionID string, since time.Time) (out []slice.Cursor, err error) {
	for _, mode := range []protocol.CursorMode{protocol.SteadyState, protocol.CatchUp} {
		streams, err := s.Store.Streams(ctx, connectionID)
		if err != nil {
			return nil, err
		}
		for _, stream := range streams {
			log, err := s.Store.CursorLog(ctx, store.CursorID{ConnectionID: connectionID, Stream: stream.Name, Mode: mode}, 1<<20)
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

// cursorBefore finds in a log, the newest first, what was current at a moment, if that is not
// what is current now. A rewind that went back behind the moment stands.
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
