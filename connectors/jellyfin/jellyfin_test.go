//pdpp:tier programs

package jellyfin_test

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/jellyfin"
)

const token = "key_under_test"

func small() jellyfin.Config {
	return jellyfin.Config{Seed: 5, Token: token, Each: 9, MaxPage: 4}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Each, large.MaxPage = 60, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

const (
	rated  = "id=Id name=Name provider_ids=ProviderIds rating=UserData.Rating likes=UserData.Likes "
	played = rated + "run_time_s genres=Genres play_count=UserData.PlayCount is_favorite=UserData.IsFavorite " +
		"last_played_at "
	dated = "production_year=ProductionYear premiere_date=PremiereDate "
)

func target(t *testing.T, cfg jellyfin.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "jellyfin"), Credential: "JELLYFIN_API_KEY", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return jellyfin.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"JELLYFIN_API_KEY": token, "JELLYFIN_URL": base, "JELLYFIN_USER": "ottilie "}
			}),
		Changes: []providersim.Mutation{{Op: "add_movies", N: 3}, {Op: "change_episodes", N: 2}, {Op: "add_tracks", N: 2},
			{Op: "change_tracks", N: 1}, {Op: "delete_favorites", N: 1}, {Op: "add_episodes", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_movies", N: 2}, DeletedStream: jellyfin.StreamMovies,
		Scoped: jellyfin.StreamMovies, OptionalField: "genres",
		Stored: connectortest.RecordMembers{
			jellyfin.StreamMovies: played + dated + "original_title=OriginalTitle",
			jellyfin.StreamEpisodes: played + dated + "series_name=SeriesName series_id=SeriesId season_name=SeasonName " +
				"season_number=ParentIndexNumber episode_number=IndexNumber",
			jellyfin.StreamTracks: played + "album=Album album_artist=AlbumArtist artists=Artists " +
				"production_year=ProductionYear",
			jellyfin.StreamFavorites: rated + "type=Type series_name=SeriesName album=Album album_artist=AlbumArtist " +
				"production_year=ProductionYear",
		}.StoredWith(func(_, _ string, record map[string]any) {
			if ids, _ := record["provider_ids"].(map[string]any); len(ids) == 0 {
				delete(record, "provider_ids")
			}
		}),
	}
}

// A key reads the history of every user: without a user of the owner's name nothing is collected.
func TestUnknownUser(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Env["JELLYFIN_USER"] = "Otto"
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "no user with this name") {
		t.Errorf("%s %+v", r.Status, e)
	}
	if r.RecordsEmitted != 0 || b.Sim.Gate.Stats().ByPattern["GET /Items"] != 0 {
		t.Errorf("%d records, %v", r.RecordsEmitted, b.Sim.Gate.Stats().ByPattern)
	}
}
