package sqlstore

import (
	"context"
	"fmt"
)

// atOnce is the look_at of a connection that is to be looked at at once. It
// sorts before every time.
const atOnce = ""

// touchSet is what a touch sets. The count lets PutLooks see that what it
// decides by is no longer the newest.
const touchSet = `look_at = '', touches = touches + 1`

const touchQuery = `UPDATE connections SET ` + touchSet + ` WHERE connection_id = ?`

// touch asks for a look at a connection, if there is such a one. It is the last
// statement of its transaction: a transaction that waits for the row of a
// connection holds nothing that the one before it could still want.
func (t *tx) touch(connectionID string) error {
	if _, err := t.exec(touchQuery, connectionID); err != nil {
		return fmt.Errorf("touch connection %s: %w", connectionID, err)
	}
	return nil
}

// touchAll touches several connections.
func (t *tx) touchAll(connectionIDs []string) error {
	if len(connectionIDs) == 0 {
		return nil
	}
	named, err := t.lockConnections(connectionIDs)
	if err != nil {
		return err
	}
	_, err = t.exec(`UPDATE connections SET `+touchSet+` WHERE `+t.db.dialect.Among("connection_id"), named)
	return err
}

// lockConnections locks the rows of connections in the order of their ids, so
// that two transactions that write several of them never wait for each other.
// It gives the list as an argument for Dialect.Among.
func (t *tx) lockConnections(ids []string) (named any, err error) {
	if named, err = t.db.dialect.List(ids); err != nil {
		return nil, err
	}
	return named, t.lock(`SELECT 1 FROM connections WHERE `+t.db.dialect.Among("connection_id")+` ORDER BY connection_id`, named)
}

// lock locks the rows of a query, in its order. It costs nothing where writers
// exclude each other anyway.
func (t *tx) lock(query string, args ...any) error {
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
	return db.write(ctx, func(tx *tx) error { return tx.touchAll(connectionIDs) })
}
