package ynab_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/ynab"
)

// TestForgotten deletes transactions, and a category with its months, while no bookmark remembers them.
func TestForgotten(t *testing.T) {
	small := ynab.Config{Seed: 5, Budgets: 2, Accounts: 3, Categories: 5, Payees: 6, Months: 3, Transactions: 20}
	for stream, op := range map[string]string{ynab.StreamTransactions: "delete", ynab.StreamMonthly: "delete_category"} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			connectortest.ForgottenStream(t, target(t, small), stream, providersim.Mutation{Op: op, N: 1})
		})
	}
}
