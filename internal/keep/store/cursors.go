package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// Cursors are bookmarks, with a time machine: every commit is kept, bounded per
// stream, and a rewind is itself a commit.
type Cursors interface {
	// Cursors gives the current bookmarks of a connection for a grant ("" is the owner).
	Cursors(ctx context.Context, connectionID, grantID string) ([]Cursor, error)
	// CursorLog gives the commits of a bookmark, newest first. Limit 0 means 100.
	CursorLog(ctx context.Context, id CursorID, limit int) ([]CursorCommit, error)
	// PreviewRewind says what going back to a commit would refetch. It changes nothing.
	PreviewRewind(ctx context.Context, id CursorID, commit int64) (RewindPreview, error)
	// Rewind makes the cursor of an earlier commit current again, as a new
	// commit with cause "rewind". It deletes nothing. It fails with
	// *ActiveRunError while the connection runs; an expired run is abandoned.
	Rewind(ctx context.Context, id CursorID, commit int64, now time.Time) (CursorCommit, error)
}

// CursorID names a bookmark.
type CursorID struct {
	ConnectionID string
	Stream       string
	Mode         protocol.CursorMode
	GrantID      string
}

// Cursor is a bookmark's current value.
type Cursor struct {
	CursorID
	Cursor jsontext.Value
	Commit int64
	RunID  string
	At     time.Time
}

// Causes of a cursor commit.
const (
	CauseSlice  = "slice"
	CauseRewind = "rewind"
)

// CursorCommit is one entry of the log. Commit ids rise. StreamSeq is the
// stream's change sequence at that moment, which tells what came after it; a
// rewind keeps that of the commit it went back to.
type CursorCommit struct {
	Commit    int64          `json:"commit"`
	Cursor    jsontext.Value `json:"cursor"`
	RunID     string         `json:"run_id,omitzero"`
	Cause     string         `json:"cause"`
	StreamSeq int64          `json:"stream_seq"`
	At        time.Time      `json:"at"`
}

// RewindPreview compares the current bookmark with the one to go back to.
type RewindPreview struct {
	From           CursorCommit `json:"from"`
	To             CursorCommit `json:"to"`
	RecordsChanged int64        `json:"records_changed_since"` // stored since To: what a run would fetch again
	CommitsUndone  int64        `json:"commits_undone"`
}
