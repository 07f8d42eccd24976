package googlecalendar_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/google"
)

// The owner signs in at Google as the manifest describes. Runs get access tokens from the one refresh token, also
// during a run. The refresh token of an app in testing ends after seven days, and the owner is asked again.
func TestSignedIn(t *testing.T) {
	t.Parallel()
	now := time.Now()
	server, err := google.Start(google.Config{Seed: 9, Calendars: 2, Events: 9, MaxPage: 3, Testing: true,
		Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	sim := &connectortest.Sim{Provider: server.Sim, Gate: server.Sim.Gate(),
		Env: map[string]string{"PDPP_GOOGLE_CALENDAR_BASE_URL": server.BaseURL + "/calendar/v3"}}
	tg := target(t, google.Config{})
	tg.Start = func(*testing.T) *connectortest.Sim { return sim }
	b := connectortest.SignIn(t, tg, server.BaseURL, map[string]string{"GOOGLE_OAUTH_CLIENT_ID": google.ClientID,
		"GOOGLE_OAUTH_CLIENT_SECRET": google.ClientSecret})
	if len(b.Missing) > 0 {
		t.Fatalf("left out: %q", b.Missing)
	}

	refusedOnce := providersim.Fault{Kind: providersim.ExpiredToken, Path: "/calendar/", Skip: 2, Count: 1}
	for i := range 2 { // the same refresh token serves twice
		sim.AddFault(t, refusedOnce)
		if r := b.Collect(t); r.Status != runner.Succeeded || server.Sim.Refreshed() != i+1 {
			t.Fatalf("run %d: %s: %v, %d refreshed\n%s", i, r.Status, r.Failure, server.Sim.Refreshed(), r.StderrTail)
		}
		sim.Gate.Clear()
	}
	b.VerifyComplete(t)
	now = now.Add(8 * 24 * time.Hour)
	sim.AddFault(t, refusedOnce)
	if r := b.Collect(t); r.Status != runner.Failed || r.DoneError == nil || r.DoneError.RecoveryHint == nil ||
		r.DoneError.RecoveryHint.Action != protocol.RefreshCredentials {
		t.Fatalf("after the seven days of an app in testing: %s %+v", r.Status, r.DoneError)
	}
	if c, err := b.Store.Credential(t.Context(), connectortest.Connection); err != nil ||
		c.Status != store.CredentialRejected {
		t.Errorf("recorded as %s, %v", c.Status, err)
	}
}
