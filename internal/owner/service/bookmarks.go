package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	usualCommits = 50
	mostCommits  = 100_000
)

// Bookmarks lists where the streams of a connection go on.
func (s *Service) Bookmarks(ctx context.Context, connectionID string) ([]api.Bookmark, error) {
	if _, err := s.find.Connection(ctx, connectionID); err != nil {
		return nil, err
	}
	cursors, err := s.Store.Cursors(ctx, connectionID, "")
	if err != nil {
		return nil, faults.OwnerError(err, "read the bookmarks")
	}
	out := make([]api.Bookmark, len(cursors))
	for i, c := range cursors {
		out[i] = api.Bookmark{ConnectionID: c.ConnectionID, Stream: c.Stream, Mode: string(c.Mode), Cursor: []byte(c.Cursor),
			Commit: c.Commit, RunID: c.RunID, At: c.At}
	}
	return out, nil
}

// BookmarkLog lists the values that a bookmark had, the newest first.
func (s *Service) BookmarkLog(ctx context.Context, q api.BookmarkQuery) ([]api.BookmarkCommit, error) {
	id, err := s.bookmarkCursorID(ctx, q.ConnectionID, q.Stream, q.Mode)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = usualCommits
	}
	log, err := s.Store.CursorLog(ctx, id, min(q.Limit, mostCommits))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, faults.OwnerError(err, "read the bookmark's history")
	}
	out := make([]api.BookmarkCommit, len(log))
	for i, c := range log {
		out[i] = commit(c)
	}
	return out, nil
}

// PreviewRewind returns what a rewind would do.
func (s *Service) PreviewRewind(ctx context.Context, r api.Rewind) (api.RewindPreview, error) {
	id, err := s.bookmarkCursorID(ctx, r.ConnectionID, r.Stream, r.Mode)
	if err != nil {
		return api.RewindPreview{}, err
	}
	p, err := s.Store.PreviewRewind(ctx, id, r.Commit)
	if err != nil {
		return api.RewindPreview{}, commitNotFound(err, r)
	}
	conn, err := s.find.Connection(ctx, r.ConnectionID)
	if err != nil {
		return api.RewindPreview{}, err
	}
	return api.RewindPreview{From: commit(p.From), To: commit(p.To), RecordsChanged: p.RecordsChanged,
		CommitsUndone: p.CommitsUndone, Device: conn.SourceKind == store.SourceLocalDevice}, nil
}

// Rewind makes an earlier value current again.
func (s *Service) Rewind(ctx context.Context, r api.Rewind) (api.BookmarkCommit, error) {
	id, err := s.bookmarkCursorID(ctx, r.ConnectionID, r.Stream, r.Mode)
	if err != nil {
		return api.BookmarkCommit{}, err
	}
	made, err := s.Store.Rewind(ctx, id, r.Commit, s.Now())
	if err != nil {
		return api.BookmarkCommit{}, commitNotFound(err, r)
	}
	return commit(made), nil
}

func commitNotFound(err error, r api.Rewind) error {
	if errors.Is(err, store.ErrNotFound) {
		e := api.NotFound(fmt.Sprintf("The bookmark of %.80q has no commit %d.", r.Stream, r.Commit),
			"Choose one of its commits.")
		e.Param, e.Err = "commit", err
		return e
	}
	return faults.OwnerError(err, "go back to the commit")
}

// bookmarkCursorID names a bookmark of a stream that the connection has.
func (s *Service) bookmarkCursorID(ctx context.Context, connectionID, stream, mode string) (store.CursorID, error) {
	id := store.CursorID{ConnectionID: connectionID, Stream: stream, Mode: protocol.CursorMode(mode)}
	if !slices.Contains(protocol.CursorModes, id.Mode) {
		return id, api.Invalid("mode", "There is no such kind of bookmark.", "Leave it out, or use catch_up.")
	}
	streams, err := s.Streams(ctx, connectionID)
	if err != nil {
		return id, err
	}
	if !slices.ContainsFunc(streams, func(have api.Stream) bool { return have.Name == stream }) {
		e := api.NotFound(fmt.Sprintf("The connection has no stream %.80q.", stream), "Choose one of its streams.")
		e.Param = "stream"
		return id, e
	}
	return id, nil
}

func commit(c store.CursorCommit) api.BookmarkCommit {
	return api.BookmarkCommit{Commit: c.Commit, Cursor: []byte(c.Cursor), RunID: c.RunID, Cause: c.Cause,
		StreamSeq: c.StreamSeq, At: c.At}
}
