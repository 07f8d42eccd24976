package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	auditColumns = `happened_at, last_at, kind, outcome, reason, actor, actor_id, actor_name, address, object, object_name,
		times, records`
	// foldSeparator separates values that contain no control characters.
	foldSeparator = "\x1f"
)

func scanAuditEntry(s scanner) (e store.AuditEntry, err error) {
	var folded *string
	err = s.Scan(&e.ID, intoTime(&e.At), intoTime(&e.LastAt), &e.Kind, &e.Outcome, &e.Reason, &e.Actor, &e.ActorID,
		&e.ActorName,
		&e.Address, &e.Object, &e.ObjectName, &e.Times, &e.Records, &folded)
	e.Folded = folded != nil
	return e, err
}

// foldKey returns the values that entries must share to be folded into one.
func foldKey(e store.AuditEntry) any {
	if !e.Folded {
		return nil
	}
	return strings.Join([]string{formatTime(e.At.Truncate(time.Minute)), e.Kind, e.Outcome, e.Reason, e.Actor, e.ActorID,
		e.Address, e.Object}, foldSeparator)
}

func (t *tx) appendAudit(e store.AuditEntry) error {
	_, err := t.exec(`INSERT INTO audit_entries (`+auditColumns+`, fold_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
		?)
		ON CONFLICT (fold_key) DO UPDATE SET times = audit_entries.times + excluded.times,
			records = audit_entries.records + excluded.records,
			last_at = CASE WHEN excluded.last_at > audit_entries.last_at THEN excluded.last_at ELSE audit_entries.last_at END`,
		formatTime(e.At), formatTime(e.At), e.Kind, e.Outcome, e.Reason, e.Actor, e.ActorID, e.ActorName, e.Address, e.Object,
		e.ObjectName,
		max(1, e.Times), e.Records, foldKey(e))
	if err != nil {
		return fmt.Errorf("audit entry %s: %w", e.Kind, err)
	}
	return nil
}

func (db *DB) AppendAudit(ctx context.Context, e store.AuditEntry) error {
	return db.write(ctx, func(tx *tx) error { return tx.appendAudit(e) })
}

func (db *DB) AuditEntries(ctx context.Context, q store.AuditQuery) ([]store.AuditEntry, error) {
	var f sqlFilter
	if len(q.Kinds) > 0 {
		kinds, err := db.dialect.ListArgument(q.Kinds)
		if err != nil {
			return nil, fmt.Errorf("list kinds: %w", err)
		}
		f.addCondition(db.dialect.InList("kind"), kinds)
	}
	if q.Since != nil {
		f.addCondition("last_at >= ?", formatTime(*q.Since))
	}
	f.addEqual("actor_id", q.ActorID)
	if q.Before > 0 {
		f.addCondition("entry_id < ?", q.Before)
	}
	return listRows(ctx, db, db.reader, scanAuditEntry, `SELECT entry_id, `+auditColumns+`, fold_key
		FROM audit_entries`+f.whereClause()+`
		ORDER BY entry_id DESC LIMIT ?`, append(f.args, limitOrDefault(q.Limit, 100))...)
}

// PruneAudit moves the horizon first, because the database rejects the deletion of entries after it.
func (db *DB) PruneAudit(ctx context.Context, before time.Time) (gone int64, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`UPDATE audit_horizon SET before = ? WHERE before < ?`, formatTime(before),
			formatTime(before)); err != nil {
			return err
		}
		gone, err = tx.exec(`DELETE FROM audit_entries WHERE last_at < ?`, formatTime(before))
		return err
	})
	return gone, err
}
