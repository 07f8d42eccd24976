package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/gapstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// applyGaps applies the attempts, misses and recoveries of a slice, in that order.
func (t *tx) applyGaps(h heldLease, s slice.Slice, now time.Time) error {
	now = storedTime(now)
	for _, ref := range s.Attempts {
		if err := t.changeLeased(h, ref, func(g *gapstate.Row) { g.Attempt(now) }); err != nil {
			return err
		}
	}
	for _, w := range s.Gaps {
		if err := t.reportGap(h, w, now); err != nil {
			return err
		}
	}
	for _, ref := range s.Recovered {
		if err := t.recoverGap(h, ref, now); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) recoverGap(h heldLease, ref slice.GapRef, now time.Time) error {
	if ref.LeaseID != "" {
		return t.changeLeased(h, ref, func(g *gapstate.Row) { g.Recovered(h.RunID, now) })
	}
	return t.changeGap(ref.GapID, func(g *gapstate.Row) error {
		if g.ConnectionID != h.ConnectionID {
			return store.ErrNotFound
		}
		g.Recovered(h.RunID, now)
		return nil
	})
}

// reportGap reports the outcome of a leased gap, or opens or refreshes a gap by its identity.
func (t *tx) reportGap(h heldLease, w slice.Gap, now time.Time) error {
	id := store.GapID(h.ConnectionID, "", w)
	if w.LeaseID != "" {
		if w.GapID != "" {
			id = w.GapID
		}
		return t.changeLeased(h, slice.GapRef{GapID: id, LeaseID: w.LeaseID},
			func(g *gapstate.Row) { g.ReturnToPending(w, h.RunID, now) })
	}
	if h.uploaded && w.Stream == store.EveryStream {
		// no stream that could be declared
	} else if _, err := t.declaredStream(h, w.Stream); err != nil {
		return err
	}
	g, err := t.gapForUpdate(id)
	if errors.Is(err, store.ErrNotFound) {
		g, err = t.newGap(h, id, w, now)
	}
	if err != nil {
		return err
	}
	g.Refresh(w, h.RunID, now)
	return t.putGap(g)
}

func (t *tx) newGap(h heldLease, id string, w slice.Gap, now time.Time) (gapstate.Row, error) {
	g := gapstate.Row{Gap: store.Gap{
		ID: id, ConnectionID: h.ConnectionID, Stream: w.Stream, ParentStream: w.ParentStream, RecordKey: w.RecordKey,
		Status: protocol.GapPending, DiscoveredRun: h.RunID, CreatedAt: now,
	}}
	err := t.row(`SELECT connector_id FROM run_history WHERE run_no = ?`, h.runNo).Scan(&g.ConnectorID)
	return g, err
}

// changeLeased changes a gap that the run holds under this token.
func (t *tx) changeLeased(h heldLease, ref slice.GapRef, fn func(*gapstate.Row)) error {
	err := t.changeGap(ref.GapID, func(g *gapstate.Row) error {
		if !g.LeasedUnder(h.RunID, ref.LeaseID) {
			return store.ErrGapLease
		}
		fn(g)
		return nil
	})
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("gap %s: %w", ref.GapID, store.ErrGapLease)
	}
	return err
}

// changeGap reads a gap, calls fn to change it, and writes it back.
func (t *tx) changeGap(id string, fn func(*gapstate.Row) error) error {
	g, err := t.gapForUpdate(id)
	if err == nil {
		err = fn(&g)
	}
	if err != nil {
		return fmt.Errorf("gap %s: %w", id, err)
	}
	return t.putGap(g)
}

func (t *tx) gapForUpdate(id string) (gapstate.Row, error) {
	g, err := scanGap(t.row(gapForUpdate+t.db.dialect.ForUpdate(), id))
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return g, err
}

func (t *tx) putGap(g gapstate.Row) error {
	_, err := t.exec(putGapQuery, g.ID, g.ConnectionID, g.ConnectorID, g.GrantID, g.Stream, g.ParentStream, g.RecordKey,
		g.Reason, g.Status, jsonOrNull(g.Locator), jsonOrNull(g.ListCursor), jsonOrNull(g.LastError), g.AttemptCount,
		timeOrNull(g.LastAttemptAt), timeOrNull(g.NotBefore), g.DiscoveredRun, g.LastRun, textOrNull(g.RecoveredRun),
		textOrNull(g.LeaseRun), textOrNull(g.LeaseID), boolToInt(g.LeaseAttempted), timeOrNull(g.LeaseExpires),
		textOrNull(g.ServedRun), g.IgnoredWhy, formatTime(g.CreatedAt), formatTime(g.UpdatedAt))
	return err
}

func (db *DB) RetryGap(ctx context.Context, gapID string, now time.Time) (store.Gap, error) {
	return db.changeGapAsOwner(ctx, gapID, func(g *gapstate.Row) { g.Retry(storedTime(now)) })
}

func (db *DB) IgnoreGap(ctx context.Context, gapID, why string, now time.Time) (store.Gap, error) {
	if strings.TrimSpace(why) == "" {
		return store.Gap{}, fmt.Errorf("gap %s: an ignored gap needs a reason", gapID)
	}
	return db.changeGapAsOwner(ctx, gapID, func(g *gapstate.Row) { g.Ignore(why, storedTime(now)) })
}

// changeGapAsOwner changes a gap that was not recovered.
func (db *DB) changeGapAsOwner(ctx context.Context, id string, fn func(*gapstate.Row)) (changed store.Gap, err error) {
	err = db.write(ctx, func(tx *tx) error {
		err := tx.changeGap(id, func(g *gapstate.Row) error {
			if g.Status == protocol.GapRecovered {
				return store.ErrNotFound
			}
			fn(g)
			changed = g.Gap
			return nil
		})
		if err != nil {
			return err
		}
		return tx.markChanged(changed.ConnectionID)
	})
	if err != nil {
		return store.Gap{}, err
	}
	return changed, nil
}
