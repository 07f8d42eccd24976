//pdpp:tier programs

package lastfm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/lastfm"
)

const token = "key_under_test"

// small is an account for most tests. Its clock begins at noon.
func small() lastfm.Config {
	began := time.Now()
	return lastfm.Config{Seed: 5, Token: token, Plays: 25, Loved: 5, MaxPage: 10, Playing: true,
		Now: func() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC).Add(time.Since(began)) }}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Plays, large.Loved, large.MaxPage = 400, 60, 40
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

func target(t *testing.T, cfg lastfm.Config) connectortest.Target {
	t.Helper()
	const common = "id track_name=name track_mbid=mbid artist_mbid=artist.mbid url "
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "lastfm"), Credential: "LASTFM_API_KEY", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return lastfm.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"LASTFM_API_KEY": token, "LASTFM_USER": lastfm.User, "PDPP_LASTFM_BASE_URL": base}
			}),
		Changes: []providersim.Mutation{{Op: "add_scrobbles", N: 5}, {Op: "remove_scrobbles", N: 2},
			{Op: "add_loved_tracks", N: 2}},
		Deletion: providersim.Mutation{Op: "delete_loved_tracks", N: 2}, DeletedStream: lastfm.StreamLoved,
		Scoped: lastfm.StreamScrobbles, OptionalField: "album_name",
		Stored: connectortest.RecordMembers{
			lastfm.StreamProfile:   "id real_name=realname country url registered_at",
			lastfm.StreamLoved:     common + "loved_at artist_name=artist.name",
			lastfm.StreamScrobbles: common + "played_at artist_name=artist.#text album_name=album.#text album_mbid=album.mbid",
		}.Stored,
	}
}

// A hidden history is not a bad key: the owner learns which box to untick. One play is an object, not a list.
func TestHiddenHistory(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Plays, cfg.Loved, cfg.Playing = 1, 1, false
	b := connectortest.NewHarness(t, target(t, cfg))
	b.Succeed(t)
	b.VerifyComplete(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "hide", N: 1})
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "untick Hide recent") {
		t.Errorf("%s %+v", r.Status, e)
	}
}
