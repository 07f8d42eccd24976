package sqlstore

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) ConfirmConnector(ctx context.Context, c store.Confirmation) error {
	variables, err := jsonStrings(c.Variables)
	if err != nil {
		return err
	}
	paths, err := jsonStrings(c.Paths)
	if err != nil {
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO connector_confirmations (connector_id, executable, variables_json, paths_json,
			confirmed_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (connector_id) DO UPDATE SET executable = excluded.executable, variables_json = excluded.variables_json,
				paths_json = excluded.paths_json, confirmed_at = excluded.confirmed_at`,
			c.ConnectorID, c.Executable, variables, paths, formatTime(c.ConfirmedAt))
		if err != nil {
			return fmt.Errorf("confirm connector %s: %w", c.ConnectorID, err)
		}
		if err := tx.lockRows(`SELECT 1 FROM connections WHERE connector_id = ? ORDER BY connection_id`,
			c.ConnectorID); err != nil {
			return err
		}
		_, err = tx.exec(`UPDATE connections SET `+markChangedSet+` WHERE connector_id = ?`, c.ConnectorID)
		return err
	})
}

func (db *DB) ConfirmedConnector(ctx context.Context, connectorID string) (store.Confirmation, error) {
	return getRow(db, db.row(ctx, `SELECT connector_id, executable, variables_json, paths_json, confirmed_at
		FROM connector_confirmations
		WHERE connector_id = ?`, connectorID), func(sc scanner) (c store.Confirmation, err error) {
		var variables, paths string
		if err = sc.Scan(&c.ConnectorID, &c.Executable, &variables, &paths, intoTime(&c.ConfirmedAt)); err != nil {
			return c, err
		}
		if c.Variables, err = parseStrings(variables); err != nil {
			return c, err
		}
		c.Paths, err = parseStrings(paths)
		return c, err
	})
}

func (db *DB) DropConfirmations(ctx context.Context) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM connector_confirmations`)
		return err
	})
}
