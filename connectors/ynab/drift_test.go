package ynab_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/ynab"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t,
		target(t, ynab.Config{Seed: 5, Budgets: 2, Accounts: 3, Categories: 5, Payees: 6, Months: 14,
			Transactions: 20}))
}
