package oura_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/oura"
)

// History of more than a year is asked for in parts that overlap, today comes with the first run, and a run on a later
// day requests only its last two weeks. A rest mode that ends changes, however long ago it began.
func TestYears(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 3, 23, 30, 0, 0, time.UTC)
	b := connectortest.NewHarness(t,
		target(t, oura.Config{Seed: 2, Days: 100, Page: 50, Now: func() time.Time { return now }}))
	b.Succeed(t)
	b.VerifyComplete(t)
	first := b.Sim.Gate.Stats().Requests
	now = now.AddDate(0, 0, 3)
	b.Sim.MutateData(t, providersim.Mutation{Op: "sync_late", N: 2})
	b.Sim.MutateData(t, providersim.Mutation{Op: "end_rest", N: 2})
	b.Succeed(t)
	b.VerifyComplete(t)
	if again := b.Sim.Gate.Stats().Requests - first; again > 8 {
		t.Errorf("the second run made %d requests, the first %d", again, first)
	}
}

// An outdated phone app and a missing permission each have their own message.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, oura.Config{Seed: 3, Days: 3}))
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes",
		Scopes: []string{oura.ScopePersonal}}); err != nil {
		t.Fatal(err)
	}
	report := func(word string) {
		t.Helper()
		r := b.Run(t, launch.RunRequest{})
		if r.Status != runner.Failed || r.DoneError == nil || r.DoneError.Code == "auth_failure" ||
			!strings.Contains(r.DoneError.Message, word) {
			t.Errorf("%s %+v", r.Status, r.DoneError)
		}
	}
	report("membership")
	b.Sim.MutateData(t, providersim.Mutation{Op: "outdated", N: 1})
	report("Update the Oura app")
}

// A collection that a token of before may not read is declared as missing, and the others are collected.
func TestWithheldCollection(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, oura.Config{Seed: 3, Days: 3}))
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Throttle, Status: http.StatusForbidden,
		Path: "/v2/usercollection/daily_stress"})
	r := b.Succeed(t)
	if !slices.ContainsFunc(r.KnownGaps, func(g runner.KnownGap) bool { return g.Stream == oura.StreamStress }) {
		t.Errorf("nothing is declared missing: %+v", r.KnownGaps)
	}
	b.Sim.Gate.Clear()
	b.Succeed(t)
	b.VerifyComplete(t)
}
