package spotify_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/spotify"
)

// A refusal that names most of a day ends the run well: nothing is asked meanwhile, what was collected
// stays, and the run after it brings the rest.
func TestDayLongWait(t *testing.T) {
	t.Parallel()
	now := time.Now()
	clock := func() time.Time { return now }
	b := connectortest.NewHarness(t,
		target(t, spotify.Config{Seed: 2, Playlists: 3, Items: 3, Saved: 9, Plays: 4, Artists: 2, MaxPage: 3, Rate: 6,
			Penalty: 79_892 * time.Second, Now: clock}))
	b.Succeed(t)
	asked := b.Sim.Gate.Stats().Requests
	if asked > 7 {
		t.Errorf("%d requests, although the seventh was refused", asked)
	}
	b.Verify(t)
	if _, err := b.Launcher().Run(t.Context(), launch.RunRequest{ConnectionID: connectortest.Connection}); err == nil ||
		b.Sim.Gate.Stats().Requests != asked {
		t.Errorf("a run within the wait: %v, %d requests", err, b.Sim.Gate.Stats().Requests-asked)
	}
	b.Clock = 24 * time.Hour
	now = now.Add(b.Clock)
	b.Sim.MutateData(t, providersim.Mutation{Op: "allow", N: 1000})
	b.Succeed(t)
	b.VerifyComplete(t)
}

// More plays between two runs than Spotify keeps are declared as a gap; a run that reaches a known play declares
// none.
func TestLostPlays(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, spotify.Config{Seed: 3, Plays: 6, Window: 8, Artists: 1}))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "play", N: 7})
	if r := b.Succeed(t); len(r.KnownGaps) > 0 {
		t.Errorf("nothing was lost, and the run tells of %+v", r.KnownGaps)
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "play", N: 9})
	if r := b.Succeed(t); len(r.KnownGaps) == 0 {
		t.Error("plays were lost, and the run does not tell")
	}
}

// A person who is not a user of the app, or who did not allow a scope, gets a message that helps. Neither is an
// expired token.
func TestForbidden(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t,
		target(t, spotify.Config{Seed: 4, Playlists: 1, Items: 2, Saved: 2, Plays: 2, Artists: 1}))
	b.Sim.MutateData(t, providersim.Mutation{Op: "stranger", N: 2})
	r := b.Run(t, launch.RunRequest{})
	if r.Status == runner.Succeeded && len(r.KnownGaps) == 0 || r.DoneError != nil && r.DoneError.Code == "auth_failure" {
		t.Errorf("a stranger: %s %+v", r.Status, r.DoneError)
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "stranger", N: 1})
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes",
		Scopes: []string{spotify.ScopePlaylists, spotify.ScopeTop, spotify.ScopePlayed}}); err != nil {
		t.Fatal(err)
	}
	r = b.Run(t, launch.RunRequest{})
	if r.DoneError != nil && r.DoneError.Code == "auth_failure" {
		t.Errorf("a missing scope is taken for a bad token: %+v", r.DoneError)
	}
	for _, q := range b.Sim.Gate.Requests() {
		if q.Status == http.StatusUnauthorized || strings.Contains(q.Path, "/tracks/") {
			t.Errorf("%s was answered %d", q.Path, q.Status)
		}
	}
}

// A list that Spotify does not offer to the app is declared as missing. What is stored of it stays, and the others go
// on.
func TestWithheldLibrary(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t,
		target(t, spotify.Config{Seed: 5, Playlists: 1, Items: 2, Saved: 2, Plays: 2, Artists: 1}))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "withhold", N: 2})
	b.Sim.MutateData(t, providersim.Mutation{Op: "save", N: 2})
	if r := b.Succeed(t); len(r.KnownGaps) != 4 {
		t.Errorf("four lists are refused, and the run declares %+v", r.KnownGaps)
	}
	b.VerifyComplete(t)
}
