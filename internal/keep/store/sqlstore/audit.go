package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

const (
	auditColumns = `happened_at, last_at, kind, outcome, reason, actor, actor_id, actor_name, address, object, object_name, times, records`
	// foldSeparator cannot be part of what it separates: entries hold no control characters.
	foldSeparator = "\x1f"
)

func scanAuditEntry(s scanner) (e store.AuditEntry, err error) {
	var folded *string
	err = s.Scan(&e.ID, intoTime(&e.At), intoTime(&e.LastAt), &e.Kind, &e.Outcome, &e.Reason, &e.Actor, &e.ActorID, &e.ActorName,
		&e.Address, &e.Object, &e.ObjectName, &e.Times, &e.Records, &folded)
	e.Folded = folded != nil
	return e, err
}

// foldKey is what entries have in common that fold into one.
func foldKey(e store.AuditEntry) any {
	if !e.Folded {
		return nil
	}
	return strings.Join([]string{stamp(e.At.Truncate(time.Minute)), e.Kind, e.Outcome, e.Reason, e.Actor, e.ActorID, e.Address, e.Object}, foldSeparator)
}

func (t *tx) appendAudit(e store.AuditEntry) error {
	_, err := t.exec(`INSERT INTO audit_entries (`+auditColumns+`, fold_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (fold_key) DO UPDATE SET times = audit_entries.times + excluded.times,
			records = audit_entries.records + excluded.records,
			last_at = CASE WHEN excluded.last_at > audit_entries.last_at THEN excluded.last_at ELSE audit_entries.last_at END`,
		stamp(e.At), stamp(e.At), e.Kind, e.Outcome, e.Reason, e.Actor, e.ActorID, e.ActorName, e.Address, e.Object, e.ObjectName,
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
	var f filter
	if len(q.Kinds) > 0 {
		kinds, err := db.dialect.List(q.Kinds)
		if err != nil {
			return nil, fmt.Errorf("list kinds: %w", err)
		}
		f.add(db.dialect.Among("kind"), kinds)
	}
	if q.Since != nil {
		f.add("last_at >= ?", stamp(*q.Since))
	}
	f.is("actor_id", q.ActorID)
	if q.Before > 0 {
		f.add("entry_id < ?", q.Before)
	}
	return list(ctx, db, db.reader, scanAuditEntry, `SELECT entry_id, `+auditColumns+`, fold_key FROM audit_entries`+f.where()+`
		ORDER BY entry_id DESC LIMIT ?`, append(f.args, limitOr(q.Limit, 100))...)
}

// PruneAudit moves the horizon first: the database lets go of no entry that is beyond it.
func (db *DB) PruneAudit(ctx context.Context, before time.Time) (gone int64, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`UPDATE audit_horizon SET before = ? WHERE before < ?`, stamp(before), stamp(before)); err != nil {
			return err
		}
		gone, err = tx.exec(`DELETE FROM audit_entries WHERE last_at < ?`, stamp(before))
		return err
	})
	return gone, err
}
