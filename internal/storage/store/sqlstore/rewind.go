package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func (db *DB) PreviewRewind(ctx context.Context, id store.CursorID, commit int64) (p store.RewindPreview, err error) {
	// One snapshot, so that counts and commits agree.
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.SnapshotLevel()})
	if err != nil {
		return p, db.dialect.ClassifyError(err)
	}
	defer tx.Rollback()
	if p.To, err = db.findCommit(ctx, tx, id, commit); err != nil {
		return p, err
	}
	newest, err := listRows(ctx, db, tx, scanCommit, `SELECT `+commitColumns+` FROM cursor_log WHERE `+bookmarkIs+`
		ORDER BY commit_id DESC LIMIT 1`, id.ConnectionID, id.Stream, id.Mode, id.GrantID)
	if err != nil {
		return p, err
	}
	p.From = newest[0]
	err = tx.QueryRowContext(ctx, db.dialect.Rebind(`SELECT
			(SELECT count(*) FROM cursor_log WHERE `+bookmarkIs+` AND commit_id > ?),
			(SELECT count(*) FROM records r JOIN streams s ON s.stream_id = r.stream_id
				WHERE s.connection_id = ? AND s.name = ? AND r.seq > ?)`),
		id.ConnectionID, id.Stream, id.Mode, id.GrantID, commit,
		id.ConnectionID, id.Stream, p.To.StreamSeq).Scan(&p.CommitsUndone, &p.RecordsChanged)
	return p, db.dialect.ClassifyError(err)
}

// Rewind stores the stream sequence of the target commit, so that a later preview counts from there too. It abandons
// the run of an expired lease first, so that this run can no longer move the cursor.
func (db *DB) Rewind(
	ctx context.Context, id store.CursorID, commit int64, now time.Time,
) (c store.CursorCommit, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if err := tx.connectionExists(id.ConnectionID); err != nil {
			return err
		}
		h, err := tx.lockLease(id.ConnectionID, now)
		if err != nil {
			return err
		}
		if err := tx.takeOverLease(h, now); err != nil {
			return err
		}
		if c, err = db.findCommit(ctx, tx, id, commit); err != nil {
			return err
		}
		c.RunID, c.Cause, c.At = "", store.CauseRewind, storedTime(now)
		// The cursor does not cover what was stored after it, so the next full walk must compare again.
		c.Cursor, _ = protocol.SplitCompared(c.Cursor)
		if c.Commit, err = tx.commitCursor(id, c, h.now); err != nil {
			return err
		}
		return tx.freeLease(id.ConnectionID)
	})
	if err != nil {
		return store.CursorCommit{}, fmt.Errorf("rewind: %w", err)
	}
	return c, nil
}
