package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// takesTurns is how soon an installation that was replaced has to be back for the two to be
// used at once. A device that moved to another computer is not back.
const takesTurns = 24 * time.Hour

// NoteInstallation locks the device, as whoever ends it does.
func (db *DB) NoteInstallation(ctx context.Context, deviceID, installation string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		var last, before *string
		var at *time.Time
		err := tx.row(`UPDATE device_exporters SET status = status WHERE device_id = ? AND status = ? RETURNING installation, installation_before, installation_at`,
			deviceID, store.DeviceActive).Scan(&last, &before, intoTimePtr(&at))
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil || last != nil && *last == installation {
			return err
		}
		doubled := before != nil && *before == installation && at != nil && now.Sub(*at) < takesTurns
		_, err = tx.exec(`UPDATE device_exporters SET installation_before = installation, installation = ?, installation_at = ?,
			doubled_at = CASE WHEN ? = 1 THEN ? ELSE doubled_at END WHERE device_id = ?`, installation, stamp(now), number(doubled), stamp(now), deviceID)
		if err != nil || !doubled {
			return err
		}
		feeds, err := list(ctx, db, tx, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
			`SELECT DISTINCT connection_id FROM device_source_instances WHERE device_id = ? AND status = ?`, deviceID, store.DeviceActive)
		if err != nil {
			return err
		}
		return tx.touchAll(feeds)
	})
}
