package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// alternationWindow is how soon a replaced installation must report again for both to count as in use. After a move
// to another computer, the old one does not report again.
const alternationWindow = 24 * time.Hour

// NoteInstallation locks the device, as revocation does.
func (db *DB) NoteInstallation(ctx context.Context, deviceID, installation string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		var last, before *string
		var at *time.Time
		err := tx.row(`UPDATE device_exporters SET status = status WHERE device_id = ? AND status = ?
			RETURNING installation, installation_before, installation_at`,
			deviceID, store.DeviceActive).Scan(&last, &before, intoTimePtr(&at))
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil || last != nil && *last == installation {
			return err
		}
		doubled := before != nil && *before == installation && at != nil && now.Sub(*at) < alternationWindow
		_, err = tx.exec(`UPDATE device_exporters SET installation_before = installation, installation = ?,
			installation_at = ?,
			doubled_at = CASE WHEN ? = 1 THEN ? ELSE doubled_at END WHERE device_id = ?`, installation, formatTime(now),
			boolToInt(doubled), formatTime(now), deviceID)
		if err != nil || !doubled {
			return err
		}
		feeds, err := listRows(ctx, db, tx, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
			`SELECT DISTINCT connection_id FROM device_source_instances WHERE device_id = ? AND status = ?`, deviceID,
			store.DeviceActive)
		if err != nil {
			return err
		}
		return tx.markAllChanged(feeds)
	})
}
