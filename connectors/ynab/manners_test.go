package ynab_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/ynab"
)

// A refusal names no time. It ends the run well, nothing is asked for the rest of the hour, and the run after it
// goes on with the months that are left.
func TestSpentHour(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := connectortest.NewHarness(t,
		target(t, ynab.Config{Seed: 2, Budgets: 1, Accounts: 1, Categories: 2, Payees: 1, Months: 10, Transactions: 3,
			Rate: 20, Now: func() time.Time { return now }}))
	b.Succeed(t)
	asked := b.Sim.Gate.Stats().Requests
	if asked > 21 {
		t.Errorf("%d requests, of which 20 are allowed", asked)
	}
	b.Verify(t)
	if _, err := b.Launcher().Run(t.Context(), launch.RunRequest{ConnectionID: connectortest.Connection}); err == nil ||
		b.Sim.Gate.Stats().Requests != asked {
		t.Errorf("a run within the hour: %v, %d requests", err, b.Sim.Gate.Stats().Requests-asked)
	}
	b.Clock = 61 * time.Minute
	now = now.Add(b.Clock)
	b.Succeed(t)
	b.VerifyComplete(t)
	if again := b.Sim.Gate.Stats().Requests - asked; again > 20 {
		t.Errorf("%d requests in the second hour", again)
	}
}

// Each day has its balances, and a purchase is none of the account's own changes.
func TestBalances(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 3, 10, 0, 0, 0, time.UTC)
	b := connectortest.NewHarness(t,
		target(t, ynab.Config{Seed: 3, Budgets: 1, Accounts: 2, Categories: 1, Payees: 1, Months: 2, Transactions: 2,
			Now: func() time.Time { return now }}))
	b.Succeed(t)
	accounts := b.NewestChange(t, ynab.StreamAccounts)
	for range 2 {
		b.Sim.MutateData(t, providersim.Mutation{Op: "buy", N: 2})
		b.Succeed(t)
		b.VerifyComplete(t)
		now = now.AddDate(0, 0, 1)
	}
	if b.NewestChange(t, ynab.StreamAccounts) != accounts {
		t.Error("a purchase changed an account")
	}
	if days := len(b.Sim.Provider.Truth()[ynab.StreamStats]); days != 4 {
		t.Errorf("%d balances of two accounts on two days", days)
	}
}

// A budget that restarts its knowledge numbers is read completely, and possible deletions are declared.
func TestRewound(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t,
		target(t, ynab.Config{Seed: 4, Budgets: 1, Accounts: 1, Categories: 2, Payees: 2, Months: 2, Transactions: 6}))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "edit", N: 3})
	b.Sim.MutateData(t, providersim.Mutation{Op: "rewind", N: 1})
	if r := b.Succeed(t); len(r.KnownGaps) == 0 {
		t.Error("deletions may be lost, and the run does not tell")
	}
	b.Verify(t)
	if r := b.Succeed(t); len(r.KnownGaps) > 0 {
		t.Errorf("the numbers are known again, and the run tells of %+v", r.KnownGaps)
	}
}

// A budget that is not listed any more is deleted, and the others go on.
func TestBudgetGone(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t,
		target(t, ynab.Config{Seed: 6, Budgets: 3, Accounts: 1, Categories: 1, Payees: 1, Months: 2, Transactions: 2}))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "drop_budget", N: 1})
	b.Sim.MutateData(t, providersim.Mutation{Op: "buy", N: 2})
	b.Succeed(t)
	b.VerifyComplete(t)
}

// An expired subscription has its own message and is not a bad token.
func TestLapsed(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t,
		target(t, ynab.Config{Seed: 1, Budgets: 1, Accounts: 1, Categories: 1, Payees: 1, Months: 1, Transactions: 1}))
	b.Sim.MutateData(t, providersim.Mutation{Op: "lapse", N: 1})
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || e.Code == "auth_failure" ||
		!strings.Contains(e.Message, "subscription") {
		t.Errorf("%s %+v", r.Status, e)
	}
}

// A month that cannot be read in the list of months is declared for what the categories had in it, not only
// for the month itself.
func TestUnreadableMonth(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t,
		target(t, ynab.Config{Seed: 3, Budgets: 1, Accounts: 1, Categories: 2, Payees: 1, Months: 3, Transactions: 2}))
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.WrongType, Path: "/", Field: "month"})
	r := b.Succeed(t)
	if !slices.ContainsFunc(r.KnownGaps, func(g runner.KnownGap) bool { return g.Stream == ynab.StreamMonthly }) {
		t.Errorf("nothing is declared of %s: %+v", ynab.StreamMonthly, r.KnownGaps)
	}
	b.Sim.Gate.Clear()
	b.Run(t, launch.RunRequest{Mode: protocol.FullRefresh})
	b.VerifyComplete(t)
}
