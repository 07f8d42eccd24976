package sqlstore

import (
	"context"
	"fmt"
)

// dueNow is the look_at of a connection that is due at once. It sorts before every time.
const dueNow = ""

// markChangedSet is the SET clause of markChanged. PutChecks compares the count to detect that its decision is
// outdated.
const markChangedSet = `look_at = '', touches = touches + 1`

const markChangedQuery = `UPDATE connections SET ` + markChangedSet + ` WHERE connection_id = ?`

// markChanged makes a connection due at once, if it exists. It must be the last statement of its transaction, so that
// a transaction that waits for the row holds no lock that another could need.
func (t *tx) markChanged(connectionID string) error {
	if _, err := t.exec(markChangedQuery, connectionID); err != nil {
		return fmt.Errorf("mark connection %s as changed: %w", connectionID, err)
	}
	return nil
}

// markAllChanged marks several connections as changed.
func (t *tx) markAllChanged(connectionIDs []string) error {
	if len(connectionIDs) == 0 {
		return nil
	}
	named, err := t.lockConnections(connectionIDs)
	if err != nil {
		return err
	}
	_, err = t.exec(`UPDATE connections SET `+markChangedSet+` WHERE `+t.db.dialect.InList("connection_id"), named)
	return err
}

// lockConnections locks the rows of connections in the order of their ids, which prevents deadlocks. It returns the
// list as an argument for Dialect.InList.
func (t *tx) lockConnections(ids []string) (named any, err error) {
	if named, err = t.db.dialect.ListArgument(ids); err != nil {
		return nil, err
	}
	return named, t.lockRows(`SELECT 1 FROM connections
		WHERE `+t.db.dialect.InList("connection_id")+` ORDER BY connection_id`, named)
}

// lockRows locks the rows of a query in its order. It does nothing where writers exclude each other anyway.
func (t *tx) lockRows(query string, args ...any) error {
	clause := t.db.dialect.ForUpdate()
	if clause == "" {
		return nil
	}
	_, err := t.exec(query+clause, args...)
	return err
}

func (db *DB) MarkChanged(ctx context.Context, connectionIDs ...string) error {
	if len(connectionIDs) == 0 {
		return nil
	}
	return db.write(ctx, func(tx *tx) error { return tx.markAllChanged(connectionIDs) })
}
