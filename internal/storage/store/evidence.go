package store

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// EvidenceReader reads the facts from which verdicts are derived.
type EvidenceReader interface {
	// Evidence returns the facts of a page of connections, ordered by id, from one snapshot and with a constant
	// number of statements. A family of facts that cannot be read is listed in Unreadable, and unreadable gaps are
	// nil. Only unreadable connections and an ended context are errors.
	//
	// Connections in ConnectionIDs are returned with any status; unknown ids are left out, and After and Limit are
	// ignored. Nil ConnectionIDs request a page of all connections that are not revoked; an empty list requests none.
	Evidence(ctx context.Context, q evidence.Query) ([]evidence.Evidence, error)
	// Runtime returns the newest report of every component that serves all connections.
	Runtime(ctx context.Context) (evidence.Runtime, error)
}
