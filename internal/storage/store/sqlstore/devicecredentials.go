package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) DeviceCredential(ctx context.Context, tokenHash []byte) (store.DeviceCredential, error) {
	return getRow(db, db.row(ctx, `SELECT credential_id, device_id, token_hash, status, code_id, created_at, last_used_at,
		revoked_at
		FROM device_ingest_credentials WHERE token_hash = ?`, nonNilBytes(tokenHash)),
		func(s scanner) (c store.DeviceCredential, err error) {
			err = s.Scan(&c.ID, &c.DeviceID, &c.TokenHash, &c.Status, intoString(&c.CodeID), intoTime(&c.CreatedAt),
				intoTimePtr(&c.LastUsedAt), intoTimePtr(&c.RevokedAt))
			return c, err
		})
}

// insertCredential adds a token to a device.
func (t *tx) insertCredential(c store.DeviceCredential) error {
	_, err := t.exec(`INSERT INTO device_ingest_credentials (credential_id, device_id, token_hash, status, code_id,
		created_at)
		VALUES (?, ?, ?, ?, ?, ?)`, c.ID, c.DeviceID, nonNilBytes(c.TokenHash), store.DeviceActive, textOrNull(c.CodeID),
		formatTime(c.CreatedAt))
	return err
}

// endCredentials revokes the tokens of a device that match a condition.
func (t *tx) endCredentials(deviceID string, now time.Time, which string, args ...any) error {
	_, err := t.exec(`UPDATE device_ingest_credentials SET status = ?, revoked_at = ? WHERE device_id = ? AND status = ?
		AND `+which,
		append([]any{store.DeviceRevoked, formatTime(now), deviceID, store.DeviceActive}, args...)...)
	return err
}

func (db *DB) UseDeviceCredential(ctx context.Context, id, address string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		var device, code string
		err := tx.row(`SELECT device_id, code_id FROM device_ingest_credentials WHERE credential_id = ?`, id).Scan(&device,
			intoString(&code))
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := tx.lockRows(`SELECT 1 FROM device_exporters WHERE device_id = ?`, device); err != nil {
			return err
		}
		first, err := tx.exec(`UPDATE device_ingest_credentials SET last_used_at = ? WHERE credential_id = ? AND status = ?
			AND last_used_at IS NULL`,
			formatTime(now), id, store.DeviceActive)
		if err != nil {
			return err
		}
		if first == 0 {
			err = requireChange(tx.exec(`UPDATE device_ingest_credentials SET last_used_at = ?
				WHERE credential_id = ? AND status = ?`, formatTime(now), id, store.DeviceActive))
		} else if err = tx.endCredentials(device, now, `credential_id <> ?`, id); err == nil {
			_, err = tx.exec(`UPDATE device_enrollment_codes SET spent_at = coalesce(spent_at, ?) WHERE code_id = ?`,
				formatTime(now), code)
		}
		if err != nil {
			return err
		}
		_, err = tx.exec(`UPDATE device_exporters SET last_used_at = ?, last_address = ? WHERE device_id = ?`,
			formatTime(now), address, device)
		return err
	})
}

func (db *DB) RotateDeviceCredential(ctx context.Context, c store.DeviceCredential) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.lockActiveDevice(c.DeviceID); err != nil {
			return err
		}
		if err := tx.endCredentials(c.DeviceID, c.CreatedAt, `last_used_at IS NULL`); err != nil {
			return err
		}
		return tx.insertCredential(c)
	})
}

// lockActiveDevice locks a device until the transaction ends. It returns ErrNotFound when the device is revoked.
func (t *tx) lockActiveDevice(id string) error {
	return requireChange(t.exec(`UPDATE device_exporters SET status = status WHERE device_id = ? AND status = ?`, id,
		store.DeviceActive))
}

func (db *DB) RevokeDevice(ctx context.Context, id string, now time.Time) (at time.Time, err error) {
	err = db.write(ctx, func(tx *tx) error {
		err := tx.row(`UPDATE device_exporters SET status = ?, updated_at = coalesce(revoked_at, ?),
			revoked_at = coalesce(revoked_at, ?)
			WHERE device_id = ? RETURNING revoked_at`, store.DeviceRevoked, formatTime(now), formatTime(now),
			id).Scan(intoTime(&at))
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := tx.endCredentials(id, now, `1 = 1`); err != nil {
			return err
		}
		return tx.endSources("device_revoked", now, `device_id = ?`, id)
	})
	return at, err
}

// endSources ends the active sources that match a condition, and their runs. Nothing that they send afterwards is
// written.
func (t *tx) endSources(reason string, now time.Time, which string, args ...any) error {
	which = `status = ? AND ` + which
	args = append([]any{store.DeviceActive}, args...)
	connections, err := listRows(t.ctx, t.db, t, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
		`SELECT DISTINCT connection_id FROM device_source_instances WHERE `+which+` ORDER BY connection_id`, args...)
	if err != nil {
		return err
	}
	for _, id := range connections {
		h, err := t.lockLease(id, now)
		if err != nil {
			return err
		}
		if h.RunID == "" {
			continue
		}
		if err := t.abandonRun(h, reason); err != nil {
			return err
		}
		if err := t.freeLease(id); err != nil {
			return err
		}
	}
	_, err = t.exec(`UPDATE device_source_instances SET status = ?, revoked_at = ?, updated_at = ? WHERE `+which,
		append([]any{store.DeviceRevoked, formatTime(now), formatTime(now)}, args...)...)
	if err != nil {
		return err
	}
	return t.markAllChanged(connections)
}
