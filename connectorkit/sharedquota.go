package connectorkit

import (
	"context"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
)

// SharedQuota identifies a quota that several runs share.
type SharedQuota struct {
	// Sender is the sender that uses the quota, as in Setup.Sender. Empty means the connector's own.
	Sender string
	// Provider is the name that connectors use to share the quota. Empty means the connector's key.
	Provider string
	// Account is a text that only the runs on the account have: an id, an address, a token. The runner gets only
	// its hash.
	Account string
	// Address, without an account, means that the provider counts requests by network address.
	Address bool
}

// SharedQuota declares which quota a sender uses, so that all runs on it share one pace. Call it in Open as soon
// as the account is known; it affects senders that are created later. It has no effect if the runner cannot share
// quotas or a names none.
func (s *Setup) SharedQuota(ctx context.Context, a SharedQuota) error {
	return s.r.JoinSharedQuota(ctx, runstate.SharedQuota(a))
}
