package store

import (
	"context"
	"time"
)

// AuditEntry is one line of the audit trail: who did what to which object, from where,
// when, and how it ended. It holds names and counts, never content and never a secret.
type AuditEntry struct {
	ID int64
	// At is when it happened, and LastAt when it happened last: they differ where an
	// entry stands for several that are alike.
	At, LastAt time.Time
	Kind       string
	Outcome    string
	Reason     string // a code; empty when there is nothing to explain

	Actor     string // in what way the actor was known
	ActorID   string
	ActorName string
	Address   string

	Object     string
	ObjectName string

	Times   int64
	Records *int64 // nil where records play no part

	// Folded entries that are alike within a minute become one, which counts them. It
	// bounds what somebody can write who does not stop.
	Folded bool
}

// AuditQuery picks entries. Empty members pick all.
type AuditQuery struct {
	Kinds   []string
	Since   *time.Time // by the last time
	ActorID string
	Before  int64 // entries older than this one
	Limit   int   // 100 unless told
}

// Audit is the trail of what was done. Entries are added and, once they are older than
// the owner wants, taken away; nothing else happens to them, and the database refuses
// anything else.
type Audit interface {
	AppendAudit(ctx context.Context, e AuditEntry) error
	// AuditEntries lists the newest first.
	AuditEntries(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	// PruneAudit takes away what happened last before a moment, and says how many entries
	// that were.
	PruneAudit(ctx context.Context, before time.Time) (int64, error)
}
