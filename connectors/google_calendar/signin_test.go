package googlecalendar_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pdpp/connectorkit/connectortest"
	"pdpp/internal/collect/launch"
	"pdpp/internal/collect/providerauth"
	"pdpp/internal/collect/runner"
	"pdpp/internal/keep/credential"
	"pdpp/internal/keep/store"
	"pdpp/protocol"
	"pdpp/providersim"
	"pdpp/providersim/google"
)

// The owner signs in at Google as the manifest says. Runs get access tokens, a fresh one in the middle of a run too, by the one refresh
// token that Google gives. At an app that stays in testing it ends after seven days: then the owner is asked.
func TestSignedIn(t *testing.T) {
	t.Parallel()
	now := time.Now()
	server, err := google.Start(google.Config{Seed: 9, Calendars: 2, Events: 9, MaxPage: 3, Testing: true, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	sim := &connectortest.Sim{Provider: server.Sim, Gate: server.Sim.Gate(), Env: map[string]string{"PDPP_GOOGLE_CALENDAR_BASE_URL": server.BaseURL + "/calendar/v3"}}
	tg := target(t, google.Config{})
	tg.Start = func(*testing.T) *connectortest.Sim { return sim }
	declared := *tg.Connector.Manifest
	setup, oauth := *declared.Setup, *declared.OAuth()
	oauth.AuthorizeURL, oauth.TokenURL = strings.Replace(oauth.AuthorizeURL, "https://accounts.google.com", server.BaseURL, 1), strings.Replace(oauth.TokenURL, "https://oauth2.googleapis.com", server.BaseURL, 1)
	setup.OAuth, declared.Setup = &oauth, &setup
	tg.Connector.Manifest = &declared
	b := connectortest.NewBed(t, tg)
	key := credential.NewKey()
	keeper := &providerauth.Keeper{Store: b.Store, Key: func() (credential.Key, error) { return key, nil }, Lookup: func(name string) (string, bool) {
		v, ok := map[string]string{"GOOGLE_OAUTH_CLIENT_ID": google.ClientID, "GOOGLE_OAUTH_CLIENT_SECRET": google.ClientSecret}[name]
		return v, ok
	}}
	source := providerauth.Source{ConnectionID: connectortest.Connection, ConnectorID: "google_calendar", Manifest: &declared}
	run := func() launch.Result {
		t.Helper()
		l := b.Launcher()
		l.Tokens = keeper
		r, err := l.Run(t.Context(), launch.Request{ConnectionID: connectortest.Connection, Trigger: store.TriggerManual})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}

	const back = "http://127.0.0.1:9/oauth/callback"
	begun, err := keeper.Begin(t.Context(), source, "session mara", back, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(begun.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	to, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(to.String(), back) {
		t.Fatalf("Google sends the owner to %v, %v", to, err)
	}
	q := to.Query()
	done, err := keeper.Finish(t.Context(), source, q.Get("state"), "session mara", providerauth.Answer{Code: q.Get("code"), Scope: q.Get("scope")})
	if err != nil || len(done.Missing) > 0 {
		t.Fatalf("left out: %q, %v", done.Missing, err)
	}

	refusedOnce := providersim.Fault{Kind: providersim.ExpiredToken, Path: "/calendar/", Skip: 2, Count: 1}
	for i := range 2 { // the same refresh token serves twice
		sim.Fault(t, refusedOnce)
		if r := run(); r.Status != runner.Succeeded || server.Sim.Refreshed() != i+1 {
			t.Fatalf("run %d: %s: %v, %d refreshed\n%s", i, r.Status, r.Failure, server.Sim.Refreshed(), r.StderrTail)
		}
		sim.Gate.Clear()
	}
	b.VerifyComplete(t)
	now = now.Add(8 * 24 * time.Hour)
	sim.Fault(t, refusedOnce)
	if r := run(); r.Status != runner.Failed || r.DoneError == nil || r.DoneError.RecoveryHint == nil || r.DoneError.RecoveryHint.Action != protocol.RefreshCredentials {
		t.Fatalf("after the seven days of an app in testing: %s %+v", r.Status, r.DoneError)
	}
	if c, err := b.Store.Credential(t.Context(), connectortest.Connection); err != nil || c.Status != store.CredentialRejected {
		t.Errorf("recorded as %s, %v", c.Status, err)
	}
}
