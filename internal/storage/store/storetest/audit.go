package storetest

import (
	"database/sql"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func auditEntry(kind string, at time.Time) store.AuditEntry {
	return store.AuditEntry{Kind: kind, Outcome: "done", Actor: "session", ActorID: "s1", Address: "192.0.2.7",
		Object: "o", ObjectName: "Object", At: at}
}

func auditKinds(t *testing.T, s store.Store, q store.AuditQuery) (kinds []string) {
	t.Helper()
	all, err := s.AuditEntries(t.Context(), q)
	ok(t, err)
	for _, e := range all {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func testAudit(t *testing.T, s store.Store) {
	ctx := t.Context()
	same(t, auditKinds(t, s, store.AuditQuery{}), nil)
	first := store.AuditEntry{
		At: Now, Kind: "export", Outcome: "refused", Reason: "not_found", Actor: "owner_token", ActorID: "ot1",
		ActorName: "Laptop",
		Address:   "2001:db8::/64", Object: "c/items", ObjectName: "Items of \"Ann\"", Records: ptr(int64(0)),
	}
	ok(t, s.AppendAudit(ctx, first))
	ok(t, s.AppendAudit(ctx, auditEntry("sign_in", Now.Add(time.Hour))))
	ok(t, s.AppendAudit(ctx, auditEntry("sign_in", Now.Add(time.Hour)))) // equal, and still two entries
	ok(t, s.AppendAudit(ctx, auditEntry("sign_out", Now.Add(2*time.Hour))))

	all, err := s.AuditEntries(ctx, store.AuditQuery{})
	ok(t, err)
	same(t, len(all), 4)
	first.ID, first.LastAt, first.Times = all[3].ID, Now, 1
	same(t, all[3], first)
	same(t, all[0].Records, nil)
	same(t, auditKinds(t, s, store.AuditQuery{}), []string{"sign_out", "sign_in", "sign_in", "export"})
	same(t, auditKinds(t, s, store.AuditQuery{Kinds: []string{"export", "sign_out", "nothing"}}),
		[]string{"sign_out", "export"})
	same(t, auditKinds(t, s, store.AuditQuery{Kinds: []string{"nothing"}}), nil)
	same(t, auditKinds(t, s, store.AuditQuery{Since: ptr(Now.Add(2 * time.Hour))}), []string{"sign_out"})
	same(t, auditKinds(t, s, store.AuditQuery{ActorID: "ot1"}), []string{"export"})
	same(t, auditKinds(t, s, store.AuditQuery{Limit: 1}), []string{"sign_out"})
	same(t, auditKinds(t, s, store.AuditQuery{Before: all[1].ID, Limit: 1}), []string{"sign_in"})
	same(t, auditKinds(t, s, store.AuditQuery{Before: all[3].ID}), nil)
}

// testAuditFolds checks that equal entries within a minute become one that counts.
func testAuditFolds(t *testing.T, s store.Store) {
	ctx := t.Context()
	minute := Now.Truncate(time.Minute)
	read := func(at time.Time, change func(*store.AuditEntry)) {
		t.Helper()
		e := auditEntry("read", at)
		e.Folded, e.Records = true, ptr(int64(5))
		if change != nil {
			change(&e)
		}
		ok(t, s.AppendAudit(ctx, e))
	}
	read(minute, nil)
	read(minute.Add(30*time.Second), nil)
	read(minute.Add(10*time.Second), nil) // late, and the last time stays
	all, err := s.AuditEntries(ctx, store.AuditQuery{})
	ok(t, err)
	same(t, len(all), 1)
	same(t, []any{all[0].Times, *all[0].Records, all[0].At, all[0].LastAt, all[0].Folded},
		[]any{int64(3), int64(15), minute, minute.Add(30 * time.Second), true})
	read(minute.Add(time.Minute), nil)
	for _, change := range []func(*store.AuditEntry){
		func(e *store.AuditEntry) { e.Kind = "search" }, func(e *store.AuditEntry) { e.Outcome = "refused" },
		func(e *store.AuditEntry) { e.Reason = "r" }, func(e *store.AuditEntry) { e.Actor = "grant" },
		func(e *store.AuditEntry) { e.ActorID = "s2" }, func(e *store.AuditEntry) { e.Address = "192.0.2.8" },
		func(e *store.AuditEntry) { e.Object = "other" },
	} {
		read(minute, change)
	}
	same(t, len(auditKinds(t, s, store.AuditQuery{})), 9)
}

// testAuditStays checks that only retention deletes entries, and nothing changes one.
func testAuditStays(t *testing.T, s store.Store) {
	ctx := t.Context()
	ok(t, s.AppendAudit(ctx, auditEntry("old", Now)))
	folded := auditEntry("read", Now.Add(time.Hour))
	folded.Folded, folded.Records = true, ptr(int64(5))
	ok(t, s.AppendAudit(ctx, folded))
	before, err := s.AuditEntries(ctx, store.AuditQuery{})
	ok(t, err)
	db := s.(interface{ Writer() *sql.DB }).Writer()
	for _, query := range []string{
		`DELETE FROM audit_entries`,
		`UPDATE audit_entries SET kind = 'other'`,
		`UPDATE audit_entries SET outcome = 'done', times = times + 1 WHERE kind = 'old'`,
		`UPDATE audit_entries SET times = times - 1 WHERE kind = 'read'`,
		`UPDATE audit_entries SET times = times + 1, records = 4 WHERE kind = 'read'`,
		`UPDATE audit_entries SET times = times + 1, actor_id = 's9' WHERE kind = 'read'`,
		`UPDATE audit_entries SET times = times + 1, address = '' WHERE kind = 'read'`,
		`UPDATE audit_entries SET times = times + 1, last_at = happened_at, happened_at = '' WHERE kind = 'read'`,
		`UPDATE audit_entries SET times = times + 1, fold_key = NULL WHERE kind = 'read'`,
	} {
		if _, err := db.ExecContext(ctx, query); err == nil {
			t.Errorf("%s: done", query)
		}
	}
	after, err := s.AuditEntries(ctx, store.AuditQuery{})
	ok(t, err)
	same(t, after, before)

	gone, err := s.PruneAudit(ctx, Now)
	ok(t, err)
	same(t, gone, 0)
	gone, err = s.PruneAudit(ctx, Now.Add(time.Microsecond))
	ok(t, err)
	same(t, gone, 1)
	same(t, auditKinds(t, s, store.AuditQuery{}), []string{"read"})
	if _, err := db.ExecContext(ctx, `UPDATE audit_horizon SET before = ''`); err == nil {
		t.Error("the horizon moved back")
	}
	gone, err = s.PruneAudit(ctx, Now) // a clock that is behind
	ok(t, err)
	same(t, gone, 0)
	if _, err := db.ExecContext(ctx, `DELETE FROM audit_horizon`); err == nil {
		if _, err := db.ExecContext(ctx, `DELETE FROM audit_entries`); err == nil {
			t.Error("without a horizon everything can be taken away")
		}
	}
}

// checkAudit reads a folded entry.
func checkAudit(t *testing.T, s store.Store) {
	all, err := s.AuditEntries(t.Context(), store.AuditQuery{})
	ok(t, err)
	same(t, len(all), 1)
	same(t, []any{all[0].Kind, all[0].ActorName, all[0].Times, *all[0].Records, all[0].Folded},
		[]any{"read", "Planner", int64(3), int64(40), true})
}
