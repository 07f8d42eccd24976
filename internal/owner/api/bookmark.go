package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Bookmarks is where the next run of a stream goes on, and going back.
type Bookmarks interface {
	Bookmarks(ctx context.Context, connectionID string) ([]Bookmark, error)
	// BookmarkLog lists the values that a bookmark had, the newest first.
	BookmarkLog(ctx context.Context, q BookmarkQuery) ([]BookmarkCommit, error)
	// PreviewRewind tells what going back would mean, and changes nothing.
	PreviewRewind(ctx context.Context, r Rewind) (RewindPreview, error)
	// Rewind makes an earlier value current again, as a commit of its own.
	Rewind(ctx context.Context, r Rewind) (BookmarkCommit, error)
}

// Bookmark is where a stream goes on. Mode is empty for news, or catch_up for the walk
// through what is older.
type Bookmark struct {
	ConnectionID string          `json:"connection_id"`
	Stream       string          `json:"stream"`
	Mode         string          `json:"mode"`
	Cursor       json.RawMessage `json:"cursor"`
	Commit       int64           `json:"commit"`
	RunID        string          `json:"run_id,omitempty"`
	At           time.Time       `json:"at"`
}

// BookmarkQuery names one bookmark. A limit of zero means 50.
type BookmarkQuery struct {
	ConnectionID string
	Stream       string
	Mode         string
	Limit        int
}

// BookmarkCommit is a value that a bookmark had from then on. Cause is slice or rewind;
// StreamSeq is the number of the stream's newest change at that moment.
type BookmarkCommit struct {
	Commit    int64           `json:"commit"`
	Cursor    json.RawMessage `json:"cursor"`
	RunID     string          `json:"run_id,omitempty"`
	Cause     string          `json:"cause"`
	StreamSeq int64           `json:"stream_seq"`
	At        time.Time       `json:"at"`
}

// Rewind is the wish to go back to a commit of a bookmark.
type Rewind struct {
	ConnectionID string `json:"connection_id"`
	Stream       string `json:"stream"`
	Mode         string `json:"mode,omitempty"`
	Commit       int64  `json:"commit"`
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

func (c *Client) Bookmarks(ctx context.Context, connectionID string) ([]Bookmark, error) {
	return listOf[Bookmark](ctx, c, "_ref", "connections", connectionID, "bookmarks")
}

func (c *Client) BookmarkLog(ctx context.Context, b BookmarkQuery) ([]BookmarkCommit, error) {
	var got listed[BookmarkCommit]
	q := url.Values{}
	given(q, "connection_id", b.ConnectionID)
	given(q, "stream", b.Stream)
	given(q, "mode", b.Mode)
	count(q, "limit", int64(b.Limit))
	err := c.get(ctx, &got, q, "_ref", "bookmarks", "log")
	return got.Data, err
}

func (c *Client) PreviewRewind(ctx context.Context, r Rewind) (RewindPreview, error) {
	var got RewindPreview
	q := url.Values{}
	given(q, "connection_id", r.ConnectionID)
	given(q, "stream", r.Stream)
	given(q, "mode", r.Mode)
	count(q, "commit", r.Commit)
	err := c.get(ctx, &got, q, "_ref", "bookmarks", "rewind")
	return got, err
}

func (c *Client) Rewind(ctx context.Context, r Rewind) (BookmarkCommit, error) {
	var got BookmarkCommit
	err := c.send(ctx, http.MethodPost, r, &got, "_ref", "bookmarks", "rewind")
	return got, err
}
