package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/gapstate"
	"github.com/pdpp-go/pdpp/protocol"
)

const gapColumns = `gap_id, connection_id, connector_id, grant_id, stream, parent_stream, record_key, reason, status,
	detail_locator_json, list_cursor_json, last_error_json, attempt_count, last_attempt_at, next_attempt_after,
	discovered_run_id, last_run_id, recovered_run_id, lease_run_id, lease_id, lease_attempted, lease_expires_at,
	served_run_id, ignored_why, created_at, updated_at`

const (
	gapForUpdate = `SELECT ` + gapColumns + ` FROM connector_detail_gaps WHERE gap_id = ?`
	putGapQuery  = `INSERT INTO connector_detail_gaps (` + gapColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (gap_id) DO UPDATE SET reason = excluded.reason, status = excluded.status,
			detail_locator_json = excluded.detail_locator_json, list_cursor_json = excluded.list_cursor_json,
			last_error_json = excluded.last_error_json, attempt_count = excluded.attempt_count,
			last_attempt_at = excluded.last_attempt_at, next_attempt_after = excluded.next_attempt_after,
			discovered_run_id = excluded.discovered_run_id, last_run_id = excluded.last_run_id,
			recovered_run_id = excluded.recovered_run_id, lease_run_id = excluded.lease_run_id, lease_id = excluded.lease_id,
			lease_attempted = excluded.lease_attempted, lease_expires_at = excluded.lease_expires_at,
			served_run_id = excluded.served_run_id, ignored_why = excluded.ignored_why, updated_at = excluded.updated_at`
)

func scanGap(s scanner) (g gapstate.Row, err error) {
	err = s.Scan(&g.ID, &g.ConnectionID, &g.ConnectorID, &g.GrantID, &g.Stream, &g.ParentStream, &g.RecordKey, &g.Reason,
		&g.Status, intoJSON(&g.Locator), intoJSON(&g.ListCursor), intoJSON(&g.LastError), &g.AttemptCount,
		intoTimePtr(&g.LastAttemptAt), intoTimePtr(&g.NotBefore), &g.DiscoveredRun, &g.LastRun, intoString(&g.RecoveredRun),
		intoString(&g.LeaseRun), intoString(&g.LeaseID), &g.LeaseAttempted, intoTimePtr(&g.LeaseExpires),
		intoString(&g.ServedRun), &g.IgnoredWhy, intoTime(&g.CreatedAt), intoTime(&g.UpdatedAt))
	return g, err
}

func scanOwnerGap(s scanner) (store.Gap, error) {
	g, err := scanGap(s)
	return g.Gap, err
}

// rotationRankSQL is store.RotationRank in SQL: one comparison of fixed-width times per step.
var rotationRankSQL = fmt.Sprintf(`CASE WHEN attempt_count < %d THEN attempt_count ELSE %[1]d END`, store.RotationCap) +
	strings.Repeat(` - CASE WHEN coalesce(last_attempt_at, created_at) <= ? THEN 1 ELSE 0 END`, store.RotationCap) +
	`, coalesce(last_attempt_at, created_at), gap_id`

func (db *DB) LeaseGaps(
	ctx context.Context, l store.Lease, q store.GapPage, now time.Time,
) (page []store.Gap, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if _, err := tx.fence(l, 0, now); err != nil {
			return err
		}
		page, err = tx.leaseGaps(l, q, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// leaseGaps claims a page of gaps for the run that holds the connection.
func (t *tx) leaseGaps(l store.Lease, q store.GapPage, now time.Time) ([]store.Gap, error) {
	args := []any{protocol.GapInProgress, l.RunID, fmt.Sprintf("%s:detail-gap-page:%d:gap:", l.RunID, q.Page),
		formatTime(now.Add(q.TTL)), l.RunID, l.ConnectionID, protocol.GapPending, formatTime(now), l.RunID}
	narrow := ""
	if len(q.Streams) > 0 {
		narrow = ` AND stream IN (?` + strings.Repeat(`, ?`, len(q.Streams)-1) + `)`
		for _, name := range q.Streams {
			args = append(args, name)
		}
	}
	if q.SparePressure {
		narrow += ` AND reason NOT IN (` + pressureReasons + `)`
	}
	for _, step := range store.RotationSteps(now) {
		args = append(args, formatTime(step))
	}
	args = append(args, limitOrDefault(q.Limit, 100))
	page, err := listRows(t.ctx, t.db, t, scanOwnerGap, `UPDATE connector_detail_gaps SET status = ?, lease_run_id = ?,
			lease_id = CAST(? AS TEXT) || gap_id, lease_attempted = 0, lease_expires_at = ?, served_run_id = ?
		WHERE gap_id IN (SELECT gap_id FROM connector_detail_gaps
			WHERE connection_id = ? AND status = ? AND (next_attempt_after IS NULL OR next_attempt_after <= ?)
				AND (served_run_id IS NULL OR served_run_id <> ?)`+narrow+`
			ORDER BY `+rotationRankSQL+` LIMIT ?)
		RETURNING `+gapColumns, args...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(page, func(a, b store.Gap) int {
		sinceA, sinceB := gapWaitingSince(a), gapWaitingSince(b)
		return cmp.Or(
			cmp.Compare(store.RotationRank(a.AttemptCount, sinceA, a.CreatedAt, now),
				store.RotationRank(b.AttemptCount, sinceB, b.CreatedAt, now)),
			sinceA.Compare(sinceB), cmp.Compare(a.ID, b.ID))
	})
	return page, nil
}

func gapWaitingSince(g store.Gap) time.Time {
	if g.LastAttemptAt != nil {
		return *g.LastAttemptAt
	}
	return g.CreatedAt
}

// releaseGapSet ends leases. An ignored gap stays terminal.
const releaseGapSet = `UPDATE connector_detail_gaps SET lease_run_id = NULL, lease_id = NULL, lease_attempted = 0,
	lease_expires_at = NULL,
	status = CASE WHEN ignored_why = '' THEN 'pending' ELSE 'terminal' END`

func (db *DB) ReleaseGaps(ctx context.Context, l store.Lease, gapIDs []string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.fence(l, 0, now); err != nil {
			return err
		}
		for _, id := range gapIDs {
			_, err := tx.exec(releaseGapSet+`, served_run_id = NULL WHERE gap_id = ? AND lease_run_id = ?`, id, l.RunID)
			if err != nil {
				return fmt.Errorf("gap %s: %w", id, err)
			}
		}
		return nil
	})
}

// releaseAllGaps releases every gap that the run holds.
func (t *tx) releaseAllGaps(h heldLease) error {
	_, err := t.exec(releaseGapSet+` WHERE connection_id = ? AND lease_run_id = ?`, h.ConnectionID, h.RunID)
	return err
}

// keysPerQuery makes the text of the query the same for lists of any length.
const keysPerQuery = 100

func (db *DB) AccountedKeys(
	ctx context.Context, connectionID, stream, parent string, keys []string,
) (map[string]bool, error) {
	accounted := make(map[string]bool)
	for part := range slices.Chunk(keys, keysPerQuery) {
		args := []any{connectionID, stream, parent}
		for i := range keysPerQuery {
			args = append(args, part[min(i, len(part)-1)])
		}
		found, err := listRows(ctx, db, db.reader, func(s scanner) (key string, err error) { return key, s.Scan(&key) },
			`SELECT record_key FROM connector_detail_gaps WHERE connection_id = ? AND stream = ? AND parent_stream = ?
				AND status IN ('pending', 'in_progress', 'recovered')
				AND record_key IN (?`+strings.Repeat(`, ?`, keysPerQuery-1)+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, key := range found {
			accounted[key] = true
		}
	}
	delete(accounted, "") // a gap without a key covers no item
	return accounted, nil
}

func (db *DB) Gap(ctx context.Context, gapID string) (store.Gap, error) {
	return getRow(db, db.row(ctx, gapForUpdate, gapID), scanOwnerGap)
}

func (db *DB) ListGaps(ctx context.Context, q store.GapQuery) ([]store.Gap, error) {
	var f sqlFilter
	f.addEqual("connection_id", q.ConnectionID)
	f.addEqual("stream", q.Stream)
	f.addEqual("status", string(q.Status))
	if q.Missing {
		f.addCondition("status <> ?", string(protocol.GapRecovered))
	}
	return listRows(ctx, db, db.reader, scanOwnerGap, `SELECT `+gapColumns+` FROM connector_detail_gaps`+f.whereClause()+
		` ORDER BY created_at, gap_id LIMIT ?`, append(f.args, limitOrDefault(q.Limit, 100))...)
}
