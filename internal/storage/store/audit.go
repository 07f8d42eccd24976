package store

import (
	"context"
	"time"
)

// AuditEntry is one line of the audit trail: who did what to which object, from where, when, and with what outcome.
// It contains names and counts, but no content and no secret.
type AuditEntry struct {
	ID int64
	// At is the first and LastAt the last time it happened. They differ for a folded entry.
	At, LastAt time.Time
	Kind       string
	Outcome    string
	Reason     string // a code; empty when there is nothing to explain

	Actor     string // how the actor was identified
	ActorID   string
	ActorName string
	Address   string

	Object     string
	ObjectName string

	Times   int64
	Records *int64 // nil where records are not involved

	// Folded merges this entry with equal ones of the same minute into one that counts them, to limit what a repeated
	// request can write.
	Folded bool
}

// AuditQuery filters entries. Empty members mean no filter.
type AuditQuery struct {
	Kinds   []string
	Since   *time.Time // compared with LastAt
	ActorID string
	Before  int64 // entries older than this one
	Limit   int   // zero means 100
}

// Audit stores the audit trail. Entries are added, and deleted when they are older than the retention time. The
// database rejects any other change.
type Audit interface {
	AppendAudit(ctx context.Context, e AuditEntry) error
	// AuditEntries lists entries, newest first.
	AuditEntries(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	// PruneAudit deletes entries with a LastAt before a time and returns how many.
	PruneAudit(ctx context.Context, before time.Time) (int64, error)
}
