package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// AbandonExpiredRuns handles each connection in its own transaction, with the steps of a takeover. A run that renews
// its lease meanwhile keeps it, and only one connection is locked at a time. After an error it returns the runs that
// were ended before.
func (db *DB) AbandonExpiredRuns(ctx context.Context, now time.Time, limit int) (ended []store.Run, err error) {
	expired, err := listRows(ctx, db, db.reader, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
		`SELECT connection_id FROM run_leases WHERE run_id IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
		formatTime(now), limitOrDefault(limit, 100))
	if err != nil {
		return nil, fmt.Errorf("find expired leases: %w", err)
	}
	for _, id := range expired {
		run, err := db.reclaim(ctx, id, now)
		switch {
		case errors.Is(err, store.ErrRunActive), errors.Is(err, errNoRun):
			continue // renewed, ended or taken over meanwhile
		case err != nil:
			return ended, fmt.Errorf("abandon the run of connection %s: %w", id, err)
		}
		ended = append(ended, run)
	}
	return ended, nil
}

// farAhead is further in the future than any lease or check should be.
const farAhead = time.Hour

func (db *DB) ClampFutureTimes(ctx context.Context, now time.Time) error {
	at, err := db.Clock(ctx)
	switch {
	case err == nil && at.After(now):
		now = at
	case err != nil && !errors.Is(err, store.ErrNoClock):
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		limit := formatTime(now.Add(farAhead))
		_, err := tx.exec(`UPDATE run_leases SET expires_at = ? WHERE run_id IS NOT NULL AND expires_at > ?`,
			formatTime(now.Add(store.DeviceRunTTL)), limit)
		if err == nil {
			_, err = tx.exec(`UPDATE connections SET look_at = ? WHERE look_at > ? AND status NOT IN ('revoked', 'draft')`,
				formatTime(now), limit)
		}
		return err
	})
}

var errNoRun = errors.New("the connection has no run")

// reclaim ends the run of one connection with an expired lease.
func (db *DB) reclaim(ctx context.Context, connectionID string, now time.Time) (run store.Run, err error) {
	err = db.write(ctx, func(tx *tx) error {
		h, err := tx.lockLease(connectionID, now)
		if err != nil {
			return err
		}
		if h.RunID == "" {
			return errNoRun
		}
		if err := tx.takeOverLease(h, now); err != nil {
			return err
		}
		if run, err = scanRun(tx.row(`SELECT `+runColumns+` FROM run_history WHERE run_no = ?`, h.runNo)); err != nil {
			return err
		}
		return tx.freeLease(connectionID)
	})
	return run, err
}
