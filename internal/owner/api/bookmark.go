package api

import (
	"context"
	"encoding/json"
	"time"
)

// Bookmarks is where the next run of a stream goes on, and going back.
type Bookmarks interface {
	Bookmarks(ctx context.Context, connectionID string) ([]Bookmark, error)
	// BookmarkLog lists the values that a bookmark had, the newest first.
	BookmarkLog(ctx context.Context, q BookmarkQuery) ([]BookmarkCommit, error)
	// PreviewRewind returns what a rewind would do. It changes nothing.
	PreviewRewind(ctx context.Context, r Rewind) (RewindPreview, error)
	// Rewind makes an earlier value current again, as a commit of its own.
	Rewind(ctx context.Context, r Rewind) (BookmarkCommit, error)
}

// Bookmark is where a stream goes on. Mode is empty for news, or catch_up for the walk
// through what is older.
type Bookmark struct {
	ConnectionID string          `json:"connection_id"`
	Stream       string          `json:"stream"`
	Mode         string          `json:"mode"`   // empty for new records, catch_up for older ones
	Cursor       json.RawMessage `json:"cursor"` // as the connector wrote it
	Commit       int64           `json:"commit"`
	RunID        string          `json:"run_id,omitempty"`
	At           time.Time       `json:"at"`
}

// BookmarkQuery names one bookmark. A limit of zero means 50.
type BookmarkQuery struct {
	ConnectionID string `query:"connection_id"` // only of this connection
	Stream       string `query:"stream"`        // only of this stream
	// Mode is the bookmark of the stream: empty for new records, or catch_up.
	Mode  string `query:"mode"`
	Limit int    `query:"limit" maximum:"100000"` // 50 by default
}

// BookmarkCommit is a value that a bookmark had from then on. Cause is slice or rewind;
// StreamSeq is the number of the stream's newest change at that moment.
type BookmarkCommit struct {
	Commit    int64           `json:"commit"`
	Cursor    json.RawMessage `json:"cursor"` // as the connector wrote it
	RunID     string          `json:"run_id,omitempty"`
	Cause     string          `json:"cause"`
	StreamSeq int64           `json:"stream_seq"`
	At        time.Time       `json:"at"`
}

// Rewind is the wish to go back to a commit of a bookmark.
type Rewind struct {
	ConnectionID string `json:"connection_id"`
	Stream       string `json:"stream"`
	Mode         string `json:"mode,omitempty"` // empty for new records, or catch_up
	Commit       int64  `json:"commit"`         // the commit to go back to
}

// RewindPreview compares the current value with the one to go back to. RecordsChanged is
// about what the next run would fetch again.
type RewindPreview struct {
	From           BookmarkCommit `json:"from"`
	To             BookmarkCommit `json:"to"`
	RecordsChanged int64          `json:"records_changed_since"`
	CommitsUndone  int64          `json:"commits_undone"`
	// Device reports that a device collects the stream: what it reads is not compared with the stored records.
	Device bool `json:"device,omitempty"`
}
