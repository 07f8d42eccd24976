package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// Cursors stores where each stream continues. It stores every commit, up to a number per stream, and a rewind is a
// commit too.
type Cursors interface {
	// Cursors returns the current cursors of a connection for a grant; "" is the owner.
	Cursors(ctx context.Context, connectionID, grantID string) ([]Cursor, error)
	// CursorLog returns the commits of a cursor, newest first. Limit 0 means 100.
	CursorLog(ctx context.Context, id CursorID, limit int) ([]CursorCommit, error)
	// PreviewRewind reports what a rewind to a commit would fetch again. It changes nothing.
	PreviewRewind(ctx context.Context, id CursorID, commit int64) (RewindPreview, error)
	// Rewind makes the cursor of an earlier commit current again, as a new commit with cause "rewind". It deletes
	// nothing. It returns *ActiveRunError while the connection runs; an expired run is abandoned.
	Rewind(ctx context.Context, id CursorID, commit int64, now time.Time) (CursorCommit, error)
}

// CursorID identifies a cursor.
type CursorID struct {
	ConnectionID string
	Stream       string
	Mode         protocol.CursorMode
	GrantID      string
}

// Cursor is the current value of a cursor.
type Cursor struct {
	CursorID
	Cursor jsontext.Value
	Commit int64
	RunID  string
	At     time.Time
}

// The causes of a cursor commit.
const (
	CauseSlice  = "slice"
	CauseRewind = "rewind"
)

// CursorCommit is one entry of the log. Commit ids increase. StreamSeq is the stream's change sequence at the commit;
// a rewind copies that of the commit it returns to.
type CursorCommit struct {
	Commit    int64          `json:"commit"`
	Cursor    jsontext.Value `json:"cursor"`
	RunID     string         `json:"run_id,omitzero"`
	Cause     string         `json:"cause"`
	StreamSeq int64          `json:"stream_seq"`
	At        time.Time      `json:"at"`
}

// RewindPreview compares the current cursor with the one to return to.
type RewindPreview struct {
	From CursorCommit `json:"from"`
	To   CursorCommit `json:"to"`
	// records stored since To, which a run would fetch again
	RecordsChanged int64 `json:"records_changed_since"`
	CommitsUndone  int64 `json:"commits_undone"`
}
