package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// A bookmark's columns, and the condition that names one.
const (
	bookmarkColumns = `connection_id, stream, mode, grant_id`
	bookmarkIs      = `connection_id = ? AND stream = ? AND mode = ? AND grant_id = ?`
)

const (
	currentCursorQuery = `SELECT cursor_json, run_id, commit_id FROM connector_state WHERE ` + bookmarkIs
	paceCommitQuery    = `UPDATE cursor_log SET cursor_json = ? WHERE commit_id = ?`
	paceCursorQuery    = `UPDATE connector_state SET cursor_json = ? WHERE commit_id = ? AND ` + bookmarkIs
	insertCursorCommit = `INSERT INTO cursor_log (` + bookmarkColumns + `, cursor_json, run_id, cause, stream_seq, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING commit_id`
	putCursorQuery = `INSERT INTO connector_state (` + bookmarkColumns + `, cursor_json, commit_id, run_id, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (` + bookmarkColumns + `) DO UPDATE SET cursor_json = excluded.cursor_json,
			commit_id = excluded.commit_id, run_id = excluded.run_id, updated_at = excluded.updated_at`
	pruneCursorQuery = `DELETE FROM cursor_log WHERE ` + bookmarkIs + ` AND commit_id <=
		(SELECT commit_id FROM cursor_log WHERE ` + bookmarkIs + ` ORDER BY commit_id DESC LIMIT 1 OFFSET ?)`
)

// moveCursor makes a bookmark's new value current, as part of a slice. The same
// value by the same run again is the same commit delivered twice. A value that
// differs in nothing but its pace marks the same place, so it takes the place of
// that commit: the log is bounded, and it is there to find earlier places.
func (t *tx) moveCursor(h held, w slice.Cursor) error {
	id := store.CursorID{ConnectionID: h.ConnectionID, Stream: w.Stream, Mode: w.Mode, GrantID: w.GrantID}
	s, err := t.declared(h, w.Stream)
	if err != nil {
		return err
	}
	cursor := w.Cursor
	if cursor.Kind() == 'n' {
		cursor = nil
	}
	var current jsontext.Value
	var run string
	var commit int64
	err = t.row(currentCursorQuery, id.ConnectionID, id.Stream, id.Mode, id.GrantID).Scan(intoJSON(&current), &run, &commit)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err == nil && run == h.RunID && samePlace(current, cursor) {
		return t.repaceCursor(id, commit, current, cursor)
	}
	_, err = t.commitCursor(id, store.CursorCommit{Cursor: cursor, RunID: h.RunID, Cause: store.CauseSlice, StreamSeq: s.lastSeq}, h.now)
	return err
}

func samePlace(a, b jsontext.Value) bool {
	a, _ = protocol.SplitPace(a)
	b, _ = protocol.SplitPace(b)
	return string(a) == string(b)
}

// repaceCursor replaces the value of a bookmark's current commit.
func (t *tx) repaceCursor(id store.CursorID, commit int64, current, cursor jsontext.Value) error {
	if string(current) == string(cursor) {
		return nil
	}
	if _, err := t.exec(paceCommitQuery, text(cursor), commit); err != nil {
		return err
	}
	_, err := t.exec(paceCursorQuery, text(cursor), commit, id.ConnectionID, id.Stream, id.Mode, id.GrantID)
	return err
}

// commitCursor appends to the log, makes the entry current and forgets the
// oldest entries beyond the bound.
func (t *tx) commitCursor(id store.CursorID, c store.CursorCommit, at string) (commit int64, err error) {
	err = t.row(insertCursorCommit, id.ConnectionID, id.Stream, id.Mode, id.GrantID,
		text(c.Cursor), c.RunID, c.Cause, c.StreamSeq, at).Scan(&commit)
	if err != nil {
		return 0, err
	}
	_, err = t.exec(putCursorQuery, id.ConnectionID, id.Stream, id.Mode, id.GrantID, text(c.Cursor), commit, c.RunID, at)
	if err != nil {
		return 0, err
	}
	_, err = t.exec(pruneCursorQuery, id.ConnectionID, id.Stream, id.Mode, id.GrantID,
		id.ConnectionID, id.Stream, id.Mode, id.GrantID, t.db.history)
	return commit, err
}

func (db *DB) Cursors(ctx context.Context, connectionID, grantID string) ([]store.Cursor, error) {
	return list(ctx, db, db.reader, func(s scanner) (c store.Cursor, err error) {
		err = s.Scan(&c.ConnectionID, &c.Stream, &c.Mode, &c.GrantID, intoJSON(&c.Cursor), &c.Commit, &c.RunID, intoTime(&c.At))
		return c, err
	}, `SELECT `+bookmarkColumns+`, cursor_json, commit_id, run_id, updated_at FROM connector_state
		WHERE connection_id = ? AND grant_id = ? AND cursor_json IS NOT NULL ORDER BY stream, mode`, connectionID, grantID)
}

const commitColumns = `commit_id, cursor_json, run_id, cause, stream_seq, at`

func scanCommit(s scanner) (c store.CursorCommit, err error) {
	return c, s.Scan(&c.Commit, intoJSON(&c.Cursor), &c.RunID, &c.Cause, &c.StreamSeq, intoTime(&c.At))
}

func (db *DB) CursorLog(ctx context.Context, id store.CursorID, limit int) ([]store.CursorCommit, error) {
	return list(ctx, db, db.reader, scanCommit, `SELECT `+commitColumns+` FROM cursor_log WHERE `+bookmarkIs+`
		ORDER BY commit_id DESC LIMIT ?`, id.ConnectionID, id.Stream, id.Mode, id.GrantID, limitOr(limit, 100))
}

// findCommit reads one entry of a bookmark's log.
func (db *DB) findCommit(ctx context.Context, q Querier, id store.CursorID, commit int64) (store.CursorCommit, error) {
	row := q.QueryRowContext(ctx, db.dialect.Rebind(`SELECT `+commitColumns+` FROM cursor_log WHERE commit_id = ? AND `+bookmarkIs),
		commit, id.ConnectionID, id.Stream, id.Mode, id.GrantID)
	c, err := get(db, row, scanCommit)
	if err != nil {
		return c, fmt.Errorf("commit %d of stream %s: %w", commit, id.Stream, err)
	}
	return c, nil
}
