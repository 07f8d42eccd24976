package store

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// EvidenceReader reads the facts that health is derived from.
type EvidenceReader interface {
	// Evidence gives the facts of a page of connections, ordered by connection
	// id, all of one moment and in a number of statements that does not depend
	// on the size of the page. A family of facts that cannot be read is named in
	// Unreadable, and unreadable gaps are nil; only unreadable connections and an
	// ended context are errors.
	//
	// Named connections come whatever their status, ids that do not exist are
	// left out, and After and Limit do not apply. Nil ConnectionIDs ask for a
	// page of all that are not revoked; an empty list that is not nil names none.
	Evidence(ctx context.Context, q evidence.Query) ([]evidence.Evidence, error)
	// Runtime gives the newest report of every part that serves all connections.
	Runtime(ctx context.Context) (evidence.Runtime, error)
}
