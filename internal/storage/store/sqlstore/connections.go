package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) PutManifest(
	ctx context.Context, connectorID string, body []byte, now time.Time,
) (generation int64, err error) {
	for {
		generation, err = db.putManifest(ctx, connectorID, body, now)
		// Another process has just written the same generation: compare with it.
		if !errors.Is(err, store.ErrExists) {
			return generation, err
		}
	}
}

func (db *DB) putManifest(
	ctx context.Context, connectorID string, body []byte, now time.Time,
) (generation int64, err error) {
	err = db.write(ctx, func(tx *tx) error {
		var newest string
		err := tx.row(`SELECT body, generation FROM connector_manifests WHERE connector_id = ?
			ORDER BY generation DESC LIMIT 1`, connectorID).Scan(&newest, &generation)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil && newest == string(body) {
			return nil
		}
		generation++
		_, err = tx.exec(`INSERT INTO connector_manifests (connector_id, generation, body, created_at) VALUES (?, ?, ?, ?)`,
			connectorID, generation, string(body), formatTime(now))
		if err != nil {
			return err
		}
		return tx.updateStreamSpecs(connectorID, body)
	})
	return generation, err
}

func (db *DB) Manifest(ctx context.Context, connectorID string) (body []byte, generation int64, err error) {
	row := db.row(ctx, `SELECT body, generation FROM connector_manifests WHERE connector_id = ?
		ORDER BY generation DESC LIMIT 1`, connectorID)
	text, err := getRow(db, row, func(s scanner) (text string, err error) {
		return text, s.Scan(&text, &generation)
	})
	return []byte(text), generation, err
}

func (db *DB) ConnectorGeneration(
	ctx context.Context, connectionID string,
) (connectorID string, generation int64, err error) {
	row := db.row(ctx, `SELECT c.connector_id, coalesce((SELECT max(m.generation) FROM connector_manifests m
		WHERE m.connector_id = c.connector_id), 0)
		FROM connections c WHERE c.connection_id = ?`, connectionID)
	connectorID, err = getRow(db, row, func(s scanner) (id string, err error) {
		return id, s.Scan(&id, &generation)
	})
	return connectorID, generation, err
}

func (db *DB) CreateConnection(ctx context.Context, c store.Connection) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO connections (`+connectionColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.ID, c.ConnectorID, c.DisplayName, c.Status, c.SourceKind, jsonOrNull(c.Binding), c.LocalBinding,
			c.ManifestGeneration,
			formatTime(c.CreatedAt), formatTime(c.UpdatedAt))
		if err != nil {
			return fmt.Errorf("connection %s: %w", c.ID, err)
		}
		return nil
	})
}

func (db *DB) UpdateConnection(ctx context.Context, c store.Connection) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE connections SET display_name = ?, status = ?, source_binding_json = ?,
			manifest_generation = ?, updated_at = ?, `+markChangedSet+` WHERE connection_id = ?`,
			c.DisplayName, c.Status, jsonOrNull(c.Binding), c.ManifestGeneration, formatTime(c.UpdatedAt), c.ID))
	})
}

func (db *DB) Connection(ctx context.Context, id string) (store.Connection, error) {
	return getRow(db, db.row(ctx, `SELECT `+connectionColumns+` FROM connections WHERE connection_id = ?`, id),
		scanConnection)
}

func (db *DB) ListConnections(ctx context.Context) ([]store.Connection, error) {
	return listRows(ctx, db, db.readers(ctx), scanConnection,
		`SELECT `+connectionColumns+` FROM connections WHERE status <> 'draft' ORDER BY created_at, connection_id`)
}

func (db *DB) DiscardDrafts(ctx context.Context, id string, before time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		ids, err := listInTx(tx, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
			`SELECT connection_id FROM connections WHERE status = 'draft' AND (connection_id = ? OR updated_at < ?)`, id,
			formatTime(before))
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := tx.clearConnection(id); err != nil {
				return err
			}
			if _, err := tx.exec(`DELETE FROM connections WHERE connection_id = ?`, id); err != nil {
				return err
			}
		}
		return nil
	})
}

const connectionColumns = `connection_id, connector_id, display_name, status, source_kind, source_binding_json,
	local_binding,
	manifest_generation, created_at, updated_at`

func scanConnection(s scanner) (c store.Connection, err error) {
	err = s.Scan(&c.ID, &c.ConnectorID, &c.DisplayName, &c.Status, &c.SourceKind, intoJSON(&c.Binding), &c.LocalBinding,
		&c.ManifestGeneration, intoTime(&c.CreatedAt), intoTime(&c.UpdatedAt))
	return c, err
}
