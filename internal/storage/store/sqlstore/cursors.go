package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// The columns of a cursor, and the condition that selects one.
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

// moveCursor makes a cursor's new value current, as part of a slice. The same value from the same run again is a
// repeated commit. A value that differs only in its pace is the same position and replaces that commit, so that the
// bounded log keeps earlier positions.
func (t *tx) moveCursor(h heldLease, w slice.Cursor) error {
	id := store.CursorID{ConnectionID: h.ConnectionID, Stream: w.Stream, Mode: w.Mode, GrantID: w.GrantID}
	s, err := t.declaredStream(h, w.Stream)
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
	err = t.row(currentCursorQuery, id.ConnectionID, id.Stream, id.Mode, id.GrantID).Scan(intoJSON(&current), &run,
		&commit)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err == nil && run == h.RunID && samePosition(current, cursor) {
		return t.replaceCursor(id, commit, current, cursor)
	}
	_, err = t.commitCursor(id, store.CursorCommit{Cursor: cursor, RunID: h.RunID, Cause: store.CauseSlice,
		StreamSeq: s.lastSeq}, h.now)
	return err
}

func samePosition(a, b jsontext.Value) bool {
	a, _ = protocol.SplitPace(a)
	b, _ = protocol.SplitPace(b)
	return string(a) == string(b)
}

// replaceCursor replaces the value of a cursor's current commit.
func (t *tx) replaceCursor(id store.CursorID, commit int64, current, cursor jsontext.Value) error {
	if string(current) == string(cursor) {
		return nil
	}
	if _, err := t.exec(paceCommitQuery, jsonOrNull(cursor), commit); err != nil {
		return err
	}
	_, err := t.exec(paceCursorQuery, jsonOrNull(cursor), commit, id.ConnectionID, id.Stream, id.Mode, id.GrantID)
	return err
}

// commitCursor appends to the log, makes the entry current and deletes the oldest entries beyond the limit.
func (t *tx) commitCursor(id store.CursorID, c store.CursorCommit, at string) (commit int64, err error) {
	err = t.row(insertCursorCommit, id.ConnectionID, id.Stream, id.Mode, id.GrantID,
		jsonOrNull(c.Cursor), c.RunID, c.Cause, c.StreamSeq, at).Scan(&commit)
	if err != nil {
		return 0, err
	}
	_, err = t.exec(putCursorQuery, id.ConnectionID, id.Stream, id.Mode, id.GrantID, jsonOrNull(c.Cursor), commit, c.RunID,
		at)
	if err != nil {
		return 0, err
	}
	_, err = t.exec(pruneCursorQuery, id.ConnectionID, id.Stream, id.Mode, id.GrantID,
		id.ConnectionID, id.Stream, id.Mode, id.GrantID, t.db.history)
	return commit, err
}

func (db *DB) Cursors(ctx context.Context, connectionID, grantID string) ([]store.Cursor, error) {
	return listRows(ctx, db, db.reader, func(s scanner) (c store.Cursor, err error) {
		err = s.Scan(&c.ConnectionID, &c.Stream, &c.Mode, &c.GrantID, intoJSON(&c.Cursor), &c.Commit, &c.RunID,
			intoTime(&c.At))
		return c, err
	}, `SELECT `+bookmarkColumns+`, cursor_json, commit_id, run_id, updated_at FROM connector_state
		WHERE connection_id = ? AND grant_id = ? AND cursor_json IS NOT NULL ORDER BY stream, mode`, connectionID, grantID)
}

const commitColumns = `commit_id, cursor_json, run_id, cause, stream_seq, at`

func scanCommit(s scanner) (c store.CursorCommit, err error) {
	return c, s.Scan(&c.Commit, intoJSON(&c.Cursor), &c.RunID, &c.Cause, &c.StreamSeq, intoTime(&c.At))
}

func (db *DB) CursorLog(ctx context.Context, id store.CursorID, limit int) ([]store.CursorCommit, error) {
	return listRows(ctx, db, db.reader, scanCommit, `SELECT `+commitColumns+` FROM cursor_log WHERE `+bookmarkIs+`
		ORDER BY commit_id DESC LIMIT ?`, id.ConnectionID, id.Stream, id.Mode, id.GrantID, limitOrDefault(limit, 100))
}

// findCommit reads one entry of a cursor's log.
func (db *DB) findCommit(
	ctx context.Context, q sqldialect.Querier, id store.CursorID, commit int64,
) (store.CursorCommit, error) {
	row := q.QueryRowContext(ctx,
		db.dialect.Rebind(`SELECT `+commitColumns+` FROM cursor_log WHERE commit_id = ? AND `+bookmarkIs),
		commit, id.ConnectionID, id.Stream, id.Mode, id.GrantID)
	c, err := getRow(db, row, scanCommit)
	if err != nil {
		return c, fmt.Errorf("commit %d of stream %s: %w", commit, id.Stream, err)
	}
	return c, nil
}
