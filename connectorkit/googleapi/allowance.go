package googleapi

import (
	"context"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// clientID names the project that asks.
const clientID = "GOOGLE_OAUTH_CLIENT_ID"

// Allowance gives what to call once it is known who is signed in. Google counts what a project asks for one person:
// several connections with one account share that, two persons do not. Who it is only an answer tells, so the run's first
// request goes alone; an account that Google keeps to itself shares nothing.
func Allowance(s *connectorkit.Setup) func(ctx context.Context, account string) error {
	project := s.Env(clientID)
	return func(ctx context.Context, account string) error {
		if account == "" {
			return nil
		}
		return s.SharedQuota(ctx, connectorkit.SharedQuota{Account: project + " " + account})
	}
}
