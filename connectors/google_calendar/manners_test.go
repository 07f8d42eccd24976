package googlecalendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/google"
)

// Tokens that Google has ended cost a reading of everything, which brings what changed and finds what was deleted
// meanwhile. Afterwards changes are asked for as before.
func TestEndedTokens(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, google.Config{Seed: 2, Calendars: 2, Events: 24, MaxPage: 10}))
	b.Succeed(t)
	b.VerifyComplete(t)
	for _, m := range []providersim.Mutation{{Op: "delete_events", N: 5}, {Op: "edit_events", N: 3},
		{Op: "delete_series", N: 2}, {Op: "add_events", N: 2}, {Op: "forget_tokens", N: 1}} {
		b.Sim.MutateData(t, m)
	}
	b.Succeed(t)
	b.VerifyComplete(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "edit_events", N: 1})
	before := b.Sim.Gate.Stats().Requests
	b.Succeed(t)
	b.VerifyComplete(t)
	if n := b.Sim.Gate.Stats().Requests - before; n > 4 { // the account, the list, a request for each of two calendars
		t.Errorf("%d requests for one change", n)
	}
}

// Tokens of pages that end between two runs let the list be read again from its beginning, and nothing is lost.
func TestEndedPages(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, google.Config{Seed: 3, Calendars: 1, Events: 24, MaxPage: 5}))
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/calendar/v3/calendars/", Skip: 3,
		RetryAfter: providersim.RetrySeconds, Seconds: 3600})
	b.Succeed(t)
	b.Verify(t)
	b.Sim.Gate.Clear()
	b.Sim.MutateData(t, providersim.Mutation{Op: "delete_events", N: 4})
	b.Sim.MutateData(t, providersim.Mutation{Op: "forget_tokens", N: 1})
	b.Clock = 2 * time.Hour
	b.Succeed(t)
	b.VerifyComplete(t)
}

// Another person who signs in adds their own records and deletes none of the first person's.
func TestAnotherAccount(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, google.Config{Seed: 4, Calendars: 2, Events: 6}))
	b.Succeed(t)
	mine, err := connectortest.StoredRecords(t.Context(), b.Store, google.StreamEvents)
	if err != nil {
		t.Fatal(err)
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "other_account", N: 1})
	b.Succeed(t)
	now, err := connectortest.StoredRecords(t.Context(), b.Store, google.StreamEvents)
	if err != nil {
		t.Fatal(err)
	}
	for key := range mine {
		if now[key].Deleted {
			t.Errorf("%s was deleted", key)
		}
	}
	if len(now) <= len(mine) {
		t.Errorf("%d events, before %d: the second account brought nothing", len(now), len(mine))
	}
}

// Google reports a rate limit as 403 and as 429, never with a time. It is not a missing permission.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := connectortest.NewHarness(t,
		target(t, google.Config{Seed: 6, Calendars: 1, Events: 12, MaxPage: 2, Rate: 4,
			Now: func() time.Time { return now }}))
	b.Env["PDPP_GOOGLE_CALENDAR_RETRY_BUDGET_INITIAL_TOKENS"] = "1"
	r := b.Run(t, launch.RunRequest{})
	if r.DoneError != nil && (strings.Contains(r.DoneError.Code, "forbidden") || r.DoneError.Code == "auth_failure") {
		t.Errorf("a limit is taken for a refusal: %+v", r.DoneError)
	}
	b.Verify(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "allow", N: 1000})
	now, b.Clock = now.Add(24*time.Hour), 24*time.Hour
	b.Succeed(t)
	b.VerifyComplete(t)
}

// An API that is disabled in the owner's project and an unticked permission each have their own message.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, google.Config{Seed: 7, Calendars: 1, Events: 2}))
	report := func(word string) {
		t.Helper()
		r := b.Run(t, launch.RunRequest{})
		if r.Status != runner.Failed || r.DoneError == nil || r.DoneError.Code == "auth_failure" ||
			!strings.Contains(r.DoneError.Message, word) {
			t.Errorf("%s %+v", r.Status, r.DoneError)
		}
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "switch_off", N: 2})
	report("press Enable")
	b.Sim.MutateData(t, providersim.Mutation{Op: "switch_off", N: 1})
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes",
		Scopes: []string{google.ScopeContacts}}); err != nil {
		t.Fatal(err)
	}
	report("tick it")
}

// All runs of one account draw on one allowance, and those of another on another.
func TestOneAllowancePerAccount(t *testing.T) {
	t.Parallel()
	connectortest.OneAllowancePerAccount(t, target(t, google.Config{Seed: 4, Calendars: 2, Events: 6}),
		providersim.Mutation{Op: "other_account", N: 1})
}
