package sqlstore

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	codeColumns = `code_id, code_hash, connector_id, local_binding_id, display_name, status, collection_scope_json,
		device_id, source_instance_id, created_at, expires_at, consumed_at, spent_at`
	// codeRetention is how long an expired code is stored.
	codeRetention = 24 * time.Hour
)

func scanCode(s scanner) (c store.DeviceCode, err error) {
	err = s.Scan(&c.ID, &c.Hash, &c.ConnectorID, &c.LocalBinding, &c.DisplayName, &c.Status, intoJSON(&c.Scope),
		intoString(&c.DeviceID), intoString(&c.SourceID), intoTime(&c.CreatedAt), intoTime(&c.ExpiresAt),
		intoTimePtr(&c.ConsumedAt), intoTimePtr(&c.SpentAt))
	return c, err
}

func (db *DB) CreateDeviceCode(ctx context.Context, c store.DeviceCode) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`DELETE FROM device_enrollment_codes WHERE expires_at <= ?`,
			formatTime(c.CreatedAt.Add(-codeRetention))); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO device_enrollment_codes (`+codeColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
			?)`,
			c.ID, nonNilBytes(c.Hash), c.ConnectorID, c.LocalBinding, c.DisplayName, c.Status, jsonOrNull(c.Scope),
			textOrNull(c.DeviceID),
			textOrNull(c.SourceID), formatTime(c.CreatedAt), formatTime(c.ExpiresAt), timeOrNull(c.ConsumedAt),
			timeOrNull(c.SpentAt))
		return err
	})
}

func (db *DB) DeviceCode(ctx context.Context, hash []byte) (store.DeviceCode, error) {
	return getRow(db, db.row(ctx, `SELECT `+codeColumns+` FROM device_enrollment_codes WHERE code_hash = ?`,
		nonNilBytes(hash)), scanCode)
}

func (db *DB) DeviceCodes(ctx context.Context) ([]store.DeviceCode, error) {
	return listRows(ctx, db, db.reader, scanCode,
		`SELECT `+codeColumns+` FROM device_enrollment_codes ORDER BY created_at DESC, code_id`)
}

func (db *DB) CancelDeviceCode(ctx context.Context, id string) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE device_enrollment_codes SET status = ? WHERE code_id = ? AND status = ?`,
			store.CodeRevoked, id, store.CodePending))
	})
}
