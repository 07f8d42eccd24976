package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func (db *DB) PreviewRewind(ctx context.Context, id store.CursorID, commit int64) (p store.RewindPreview, err error) {
	// One snapshot, so that the counts belong to the commits they are shown with.
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.Snapshot()})
	if err != nil {
		return p, db.dialect.Classify(err)
	}
	defer tx.Rollback()
	if p.To, err = db.findCommit(ctx, tx, id, commit); err != nil {
		return p, err
	}
	newest, err := list(ctx, db, tx, scanCommit, `SELECT `+commitColumns+` FROM cursor_log WHERE `+bookmarkIs+`
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
	return p, db.dialect.Classify(err)
}

// Rewind keeps the stream sequence of the commit it goes back to, so that a
// later preview of the rewind counts from there too. An expired lease does not
// hold it up: its run is declared abandoned first and cannot move the cursor any more.
func (db *DB) Rewind(ctx context.Context, id store.CursorID, commit int64, now time.Time) (c store.CursorCommit, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if err := tx.connectionExists(id.ConnectionID); err != nil {
			return err
		}
		h, err := tx.lockLease(id.ConnectionID, now)
		if err != nil {
			return err
		}
		if err := tx.vacate(h, now); err != nil {
			return err
		}
		if c, err = db.findCommit(ctx, tx, id, commit); err != nil {
			return err
		}
		c.RunID, c.Cause, c.At = "", store.CauseRewind, storedTime(now)
		// The cursor does not know what was stored after it: the next whole walk is compared with the store again.
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
