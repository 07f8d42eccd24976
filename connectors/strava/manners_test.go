package strava_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/strava"
)

// No request is sent before the quarter of an hour, or the day, ends by the headers, although no refusal names a
// time.
func TestWindows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  strava.Config
		wait time.Duration
	}{
		"quarter": {strava.Config{Quarter: 4}, 8 * time.Minute},
		"day":     {strava.Config{Day: 4}, 10*time.Hour + 8*time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			now := time.Date(2026, 5, 6, 13, 52, 0, 0, time.UTC) // 8 minutes before the hour, by Strava's clock
			cfg := c.cfg
			cfg.Seed, cfg.Activities, cfg.MaxPage, cfg.Now = 3, 14, 3, func() time.Time { return now }
			b := connectortest.NewHarness(t, target(t, cfg))
			b.Succeed(t)
			asked := b.Sim.Gate.Stats().Requests
			if asked > 5 {
				t.Errorf("%d requests, of which 4 are allowed", asked)
			}
			var wait *launch.WaitError
			_, err := b.Launcher().Run(t.Context(),
				launch.RunRequest{ConnectionID: connectortest.Connection, Trigger: store.TriggerManual})
			if !errors.As(err, &wait) || wait.Until.Before(began.Add(c.wait-time.Minute)) ||
				wait.Until.After(time.Now().Add(c.wait+time.Minute)) {
				t.Fatalf("a run within the wait: %v", err)
			}
			if b.Sim.Gate.Stats().Requests != asked {
				t.Error("Strava is asked within the wait")
			}
			b.Verify(t)
		})
	}
}

// A permission that was unticked at Strava asks to sign in again, in its own words.
func TestMissingPermission(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, strava.Config{Seed: 1, Activities: 3}))
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes",
		Scopes: []string{strava.ScopeRead}}); err != nil {
		t.Fatal(err)
	}
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || e.RecoveryHint == nil ||
		e.RecoveryHint.Action != protocol.RefreshCredentials || !strings.Contains(e.Message, "permission") {
		t.Errorf("%s %+v", r.Status, e)
	}
}

// The owner signs in at Strava and leaves something out; runs get access tokens, a fresh one in the middle
// of a run too, and refresh tokens that are good once are exchanged one after another. A consent that is
// withdrawn is known from Strava's own words, and asked for.
func TestSignedIn(t *testing.T) {
	t.Parallel()
	server, sim := start(t, strava.Config{Seed: 8, Activities: 14, MaxPage: 3, Quarter: 1 << 20, Day: 1 << 20,
		Withheld: strava.ScopeAll})
	tg := target(t, strava.Config{})
	tg.Start = func(*testing.T) *connectortest.Sim { return sim }
	delete(sim.Env, "STRAVA_ACCESS_TOKEN")
	b := connectortest.SignIn(t, tg, server.BaseURL,
		map[string]string{"STRAVA_CLIENT_ID": strava.ClientID, "STRAVA_CLIENT_SECRET": strava.ClientSecret})
	if !slices.Equal(b.Missing, []string{"Activities that only you can see, and where they began"}) {
		t.Fatalf("left out: %q", b.Missing)
	}

	if r := b.Collect(t); r.Status != runner.Succeeded {
		t.Fatalf("%s: %v\n%s", r.Status, r.Failure, r.StderrTail)
	}
	for i := range 2 { // refused in the middle of a run
		sim.AddFault(t, providersim.Fault{Kind: providersim.ExpiredToken, Path: "/api/", Skip: 2, Count: 1})
		r := b.Collect(t)
		if r.Status != runner.Succeeded || server.Sim.Refreshed() != i+1 {
			t.Fatalf("run %d: %s: %v, %d refreshed\n%s", i, r.Status, r.Failure, server.Sim.Refreshed(), r.StderrTail)
		}
		sim.Gate.Clear()
	}
	if err := server.Sim.Withdraw(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := b.Collect(t); r.Status != runner.Failed || r.DoneError == nil || r.DoneError.RecoveryHint == nil ||
			r.DoneError.RecoveryHint.Action != protocol.RefreshCredentials {
			t.Fatalf("withdrawn: %s %+v", r.Status, r.DoneError)
		}
	}
	if c, err := b.Store.Credential(t.Context(), connectortest.Connection); err != nil ||
		c.Status != store.CredentialRejected || c.RejectionReason != providerauth.ReasonWithdrawn {
		t.Errorf("recorded as %s, %s, %v", c.Status, c.RejectionReason, err)
	}
}
