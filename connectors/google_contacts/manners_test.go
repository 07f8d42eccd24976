package googlecontacts_test

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/google"
)

// A sync token that Google ended after seven days, reported with 400, causes a full read. It finds deleted contacts
// and labels.
func TestEndedTokens(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, google.Config{Seed: 2, People: 21, Others: 6, Groups: 3, MaxPage: 8}))
	b.Succeed(t)
	b.VerifyComplete(t)
	for _, m := range []providersim.Mutation{{Op: "delete_people", N: 4}, {Op: "edit_people", N: 2},
		{Op: "delete_others", N: 2}, {Op: "delete_groups", N: 1}, {Op: "forget_tokens", N: 1}} {
		b.Sim.MutateData(t, m)
	}
	b.Succeed(t)
	b.VerifyComplete(t)
	before := b.Sim.Gate.Stats().Requests
	b.Succeed(t)
	b.VerifyComplete(t)
	if n := b.Sim.Gate.Stats().Requests - before; n > 4 { // who it is, two lists of people, the labels
		t.Errorf("%d requests although nothing changed", n)
	}
}

// Another person who signs in adds their own records and deletes none of the first person's.
func TestAnotherAccount(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, google.Config{Seed: 4, People: 6, Groups: 2}))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "other_account", N: 1})
	b.Succeed(t)
	now, err := connectortest.StoredRecords(t.Context(), b.Store, google.StreamContacts)
	if err != nil {
		t.Fatal(err)
	}
	if len(now) != 12 {
		t.Errorf("%d contacts of two accounts with six each", len(now))
	}
	for key, r := range now {
		if r.Deleted {
			t.Errorf("%s was deleted", key)
		}
	}
}

// A box that was left empty takes its own part away, in its own words; the rest comes.
func TestUntickedBox(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, google.Config{Seed: 7, People: 2, Others: 2, Groups: 1}))
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes",
		Scopes: []string{google.ScopeContacts}}); err != nil {
		t.Fatal(err)
	}
	r := b.Run(t, launch.RunRequest{})
	message := ""
	if r.DoneError != nil {
		message = r.DoneError.Message
	}
	for _, g := range r.KnownGaps {
		message += " " + g.Message
	}
	if r.Status == runner.Succeeded && len(r.KnownGaps) == 0 || !strings.Contains(message, "tick it") {
		t.Errorf("%s %+v %+v", r.Status, r.DoneError, r.KnownGaps)
	}
	if b.NewestChange(t, google.StreamContacts) == 0 {
		t.Error("the contacts did not come")
	}
}

// All runs of one account draw on one allowance, and those of another on another.
func TestOneAllowancePerAccount(t *testing.T) {
	t.Parallel()
	connectortest.OneAllowancePerAccount(t, target(t, google.Config{Seed: 4, People: 6, Groups: 2}),
		providersim.Mutation{Op: "other_account", N: 1})
}
