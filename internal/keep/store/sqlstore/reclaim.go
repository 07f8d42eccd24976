package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Reclaim takes the connections one by one, each in its own transaction and by
// the steps of a take-over: a run that renews its lease meanwhile keeps it, and
// no more than one connection is locked at a time. What was reclaimed before an
// error stays so and is given with it.
func (db *DB) Reclaim(ctx context.Context, now time.Time, limit int) (ended []store.Run, err error) {
	expired, err := list(ctx, db, db.reader, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
		`SELECT connection_id FROM run_leases WHERE run_id IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
		stamp(now), limitOr(limit, 100))
	if err != nil {
		return nil, fmt.Errorf("find leases that ran out: %w", err)
	}
	for _, id := range expired {
		run, err := db.reclaim(ctx, id, now)
		switch {
		case errors.Is(err, store.ErrRunActive), errors.Is(err, errNoRun):
			continue // renewed, ended or taken over meanwhile
		case err != nil:
			return ended, fmt.Errorf("reclaim connection %s: %w", id, err)
		}
		ended = append(ended, run)
	}
	return ended, nil
}

// farAhead is further ahead than any lease or check is dated.
const farAhead = time.Hour

func (db *DB) BringBack(ctx context.Context, now time.Time) error {
	at, err := db.Clock(ctx)
	switch {
	case err == nil && at.After(now):
		now = at
	case err != nil && !errors.Is(err, store.ErrNoClock):
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		limit := stamp(now.Add(farAhead))
		_, err := tx.exec(`UPDATE run_leases SET expires_at = ? WHERE run_id IS NOT NULL AND expires_at > ?`,
			stamp(now.Add(store.DeviceRunTTL)), limit)
		if err == nil {
			_, err = tx.exec(`UPDATE connections SET look_at = ? WHERE look_at > ? AND status NOT IN ('revoked', 'draft')`,
				stamp(now), limit)
		}
		return err
	})
}

var errNoRun = errors.New("the connection has no run")

// reclaim ends the run of one connection whose lease ran out.
func (db *DB) reclaim(ctx context.Context, connectionID string, now time.Time) (run store.Run, err error) {
	err = db.write(ctx, func(tx *tx) error {
		h, err := tx.lockLease(connectionID, now)
		if err != nil {
			return err
		}
		if h.RunID == "" {
			return errNoRun
		}
		if err := tx.vacate(h, now); err != nil {
			return err
		}
		if run, err = scanRun(tx.row(`SELECT `+runColumns+` FROM run_history WHERE run_no = ?`, h.runNo)); err != nil {
			return err
		}
		return tx.freeLease(connectionID)
	})
	return run, err
}
