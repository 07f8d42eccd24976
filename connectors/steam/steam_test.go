//pdpp:tier programs

package steam_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/steam"
)

const token = "KEY_UNDER_TEST"

// small is an account for most tests. Its clock begins at noon.
func small() steam.Config {
	began := time.Now()
	return steam.Config{Seed: 5, Token: token, Friends: 4, Games: 13, Achievements: 17,
		Now: func() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC).Add(time.Since(began)) }}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Friends, large.Games, large.Achievements = 40, 90, 400
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

func target(t *testing.T, cfg steam.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "steam"), Credential: "STEAM_WEB_API_KEY", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return steam.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"STEAM_WEB_API_KEY": token, "STEAM_ID": steam.ID, "PDPP_STEAM_BASE_URL": base}
			}),
		Changes: []providersim.Mutation{{Op: "add_games", N: 2}, {Op: "change_games", N: 2}, {Op: "add_achievements", N: 3},
			{Op: "add_friends", N: 1}, {Op: "refund_games", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_friends", N: 1}, DeletedStream: steam.StreamFriends,
		Scoped: steam.StreamAchievements, OptionalField: "description",
		Stored: connectortest.RecordMembers{
			steam.StreamProfile: "id=steamid name=personaname url=profileurl country=loccountrycode created_at",
			steam.StreamFriends: "id=steamid friends_since",
			steam.StreamGames: "id=#appid name minutes_played=playtime_forever minutes_windows=playtime_windows_forever " +
				"minutes_mac=playtime_mac_forever minutes_linux=playtime_linux_forever minutes_deck=playtime_deck_forever " +
				"minutes_offline=playtime_disconnected last_played_at",
			steam.StreamRecent: "id game_id=#appid name observed_on minutes_two_weeks=playtime_2weeks " +
				"minutes_played=playtime_forever",
			steam.StreamAchievements: "apiname name description unlocked_at",
		}.StoredWith(func(stream, key string, record map[string]any) {
			switch game, _, _ := strings.Cut(key, ":"); stream {
			case steam.StreamAchievements:
				record["id"], record["game_id"], record["game_name"] = key, game, steam.GameName(game)
			case steam.StreamFriends:
				record["url"] = "https://steamcommunity.com/profiles/" + key
			case steam.StreamGames:
				record["url"] = "https://store.steampowered.com/app/" + key
			}
		}),
	}
}

// What a profile hides is not a bad key: hidden friends and achievements are declared as missing and nothing of them is
// deleted, and about hidden games the owner learns what to change.
func TestHiddenProfile(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "hide", ID: steam.StreamFriends})
	b.Sim.MutateData(t, providersim.Mutation{Op: "hide", ID: steam.StreamAchievements})
	if r := b.Succeed(t); len(r.KnownGaps) != 2 {
		t.Errorf("two hidden lists are declared as %+v", r.KnownGaps)
	}
	b.VerifyComplete(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "hide", ID: steam.StreamGames})
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "Game details to Public") {
		t.Errorf("%s %+v", r.Status, e)
	}
}
