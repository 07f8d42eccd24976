// Package steam simulates the parts of Steam's Web API that a person's own games are read from.
//
// Written from Valve's documentation (partner.steamgames.com, "Authentication using Web API Keys"; Valve Developer
// Community, "Steam Web API"; read in November 2026). What both leave out, such as the members of a game, refusals and
// hidden lists, is from answers that public clients have recorded.
//
//   - The key is in the header x-webapi-key. A bad key is a page of HTML: 401 for games, 403 for the others.
//   - No list has pages. Times are seconds; zero is no time. Ids of games are numbers, ids of people are texts.
//   - Hidden games are an empty response, a hidden list of friends is 401 with {}, hidden achievements are 403.
//   - A game without achievements is 400. Every achievement of a game is listed, unlocked or not.
//     Old ones have no time.
//
// Not known, and chosen here: the form of refusals by a limit; that an empty library has game_count and no games.
package steam

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamProfile      = "profile"
	StreamFriends      = "friends"
	StreamGames        = "games"
	StreamRecent       = "recent_play"
	StreamAchievements = "achievements"
)

// ID is the SteamID of the account.
const ID = "76561197960287930"

// GameName returns the name of a game.
func GameName(id string) string { return "Überfahrt & " + id }

// Config sets what the simulated account holds.
type Config struct {
	Seed                         uint64
	Friends, Games, Achievements int
	Token                        string
	Now                          func() time.Time // clock of the data and of the Date header; nil means the wall clock
}

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	profile := rest.Object{"steamid": ID, "personaname": "Ottilie ☂", "communityvisibilitystate": 3,
		"profileurl": "https://steamcommunity.com/id/ottilie/", "profilestate": 1, "personastate": 0,
		"lastlogoff": 1769990000, "loccountrycode": "AT", "avatar": "https://example.org/a.jpg",
		"timecreated": int64(1063407589)}
	hides := map[string]bool{}
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Credential: rest.HeaderKey("x-webapi-key"), Now: cfg.Now,
		Clock: time.Date(2024, 2, 3, 9, 0, 0, 0, time.UTC), Tick: time.Minute, Errors: renderError,
		Truth: func(add rest.AddTruth) { add(StreamProfile, ID, dated(profile, "created_at", "timecreated"), false) }})
	open := func(stream string, count int, create, edit func(*rest.Row), time, seconds string) {
		s.Open(&rest.Collection{Stream: stream, Count: count, New: create, Edit: edit,
			Show: func(row *rest.Row) rest.Object { return dated(row.Data, time, seconds) }})
	}
	open(StreamFriends, cfg.Friends, func(row *rest.Row) {
		row.ID = fmt.Sprint(76561197960300000 + row.N)
		row.Data = rest.Object{"steamid": row.ID, "relationship": "friend",
			"friend_since": s.Advance(time.Hour).Unix() * int64(row.N%2)}
	}, nil, "friends_since", "friend_since")
	open(StreamGames, cfg.Games, func(row *rest.Row) {
		id, minutes, last := 200+10*row.N, 17*row.N, int64(0)
		if minutes > 0 {
			last = s.Advance(time.Hour).Unix()
		}
		row.ID = fmt.Sprint(id)
		row.Data = rest.Object{"appid": id, "name": GameName(row.ID), "playtime_forever": minutes,
			"img_icon_url": "af89", "playtime_windows_forever": minutes, "playtime_mac_forever": 0, "playtime_linux_forever": 0,
			"playtime_deck_forever": 0, "rtime_last_played": last, "playtime_disconnected": 0}
		if row.N%3 != 2 {
			row.Data["has_community_visible_stats"] = true
		}
	}, func(row *rest.Row) {
		row.Data["playtime_forever"] = row.Data["playtime_forever"].(int) + 30
		row.Data["rtime_last_played"] = s.Advance(time.Minute).Unix()
	}, "last_played_at", "rtime_last_played")
	// Steam counts again at times of its own; within a test it does not.
	today := s.Now().UTC().Format(time.DateOnly)
	s.Open(&rest.Collection{Stream: StreamRecent, Count: cfg.Games / 2, New: func(row *rest.Row) {
		row.Data = rest.Members(s.Rows[StreamGames][2*row.N+1].Data, "appid", "name", "playtime_forever", "img_icon_url")
		row.Data["playtime_2weeks"], row.ID = 17, fmt.Sprintf("%v:%s", row.Data["appid"], today)
	}, Show: func(row *rest.Row) rest.Object {
		out := maps.Clone(row.Data)
		out["id"], out["observed_on"] = row.ID, today
		return out
	}})
	// One in four games with statistics has no achievements.
	counts := func(game *rest.Row) bool {
		return game.N > 0 && game.N%4 != 1 && game.Data["has_community_visible_stats"] == true
	}
	open(StreamAchievements, cfg.Achievements, func(row *rest.Row) {
		row.Parent = rest.Pick(s, s.Live(StreamGames), counts)
		name, at := fmt.Sprint("ACH_", row.N), s.Advance(time.Hour).Unix()
		if row.N%6 == 5 {
			at = 0
		}
		row.ID = row.Parent.ID + ":" + name
		row.Data = rest.Object{"apiname": name, "achieved": 1, "unlocktime": at, "name": fmt.Sprint("雨 ", row.N),
			"description": ""}
		if row.N%2 == 1 {
			row.Data["description"] = "Cross <b>the</b> water"
		}
	}, nil, "unlocked_at", "unlocktime")
	s.Operations = map[string]func() string{"refund_games": func() string {
		id := s.Delete(StreamGames, nil)
		for _, row := range s.Rows[StreamAchievements] {
			row.Gone = row.Gone || row.Parent.ID == id
		}
		return id
	}}
	s.Switches = map[string]func(string){"hide": func(what string) { hides[what] = true }}
	list := func(path, stream, items, total string) {
		s.Handle("GET /"+path+"/{$}", "", func(r *http.Request) rest.Answer {
			all := s.Live(stream)
			switch {
			case r.URL.Query().Get("steamid") != ID:
				return s.Refuse(r, rest.BadParameter, "steamid")
			case hides[stream] && stream == StreamFriends:
				return rest.Answer{Status: http.StatusUnauthorized, Body: rest.Object{}}
			case hides[stream]:
				return rest.OK(rest.Object{"response": rest.Object{}})
			}
			body := rest.Object{}
			rest.SetMember(body, items, rest.Show(all, func(row *rest.Row) rest.Object { return row.Data }))
			if total != "" {
				rest.SetMember(body, total, len(all))
			}
			return rest.OK(body)
		})
	}
	list("ISteamUser/GetFriendList/v1", StreamFriends, "friendslist.friends", "")
	list("IPlayerService/GetOwnedGames/v1", StreamGames, "response.games", "response.game_count")
	list("IPlayerService/GetRecentlyPlayedGames/v1", StreamRecent, "response.games", "response.total_count")
	s.Handle("GET /ISteamUser/GetPlayerSummaries/v2/{$}", "", func(r *http.Request) rest.Answer {
		players := []rest.Object{}
		if r.URL.Query().Get("steamids") == ID {
			players = append(players, profile)
		}
		return rest.OK(rest.Object{"response": rest.Object{"players": players}})
	})
	s.Handle("GET /ISteamUserStats/GetPlayerAchievements/v1/{$}", "", func(r *http.Request) rest.Answer {
		game := s.Find(StreamGames, r.URL.Query().Get("appid"))
		failed := func(status int, reason string) rest.Answer {
			return rest.Answer{Status: status, Body: rest.Object{"playerstats": rest.Object{"error": reason, "success": false}}}
		}
		switch {
		case hides[StreamAchievements]:
			return failed(http.StatusForbidden, "Profile is not public")
		case game == nil || !counts(game):
			return failed(http.StatusBadRequest, "Requested app has no stats")
		}
		all := []rest.Object{{"apiname": "ACH_LOCKED", "achieved": 0, "unlocktime": 0, "name": "Nie", "description": ""}}
		for _, row := range s.Live(StreamAchievements) {
			if row.Parent == game {
				all = append(all, row.Data)
			}
		}
		return rest.OK(rest.Object{"playerstats": rest.Object{"steamID": ID, "gameName": game.Data["name"],
			"achievements": all, "success": true}})
	})
	return s
}

// dated returns an object of the ground truth, with a time as text. Zero is no time.
func dated(o rest.Object, name, seconds string) rest.Object {
	out := maps.Clone(o)
	if at := o[seconds].(int64); at != 0 {
		out[name] = time.Unix(at, 0).UTC().Format(time.RFC3339)
	}
	return out
}

func renderError(f rest.Refusal) rest.Answer {
	switch f.Problem {
	case rest.NoToken, rest.BadToken, rest.ExpiredToken:
		status := http.StatusForbidden
		if f.Request == nil || strings.Contains(f.Request.URL.Path, "GetOwnedGames") {
			status = http.StatusUnauthorized
		}
		return rest.Answer{Status: status, Body: "<html><head><title>Forbidden</title></head><body><h1>Forbidden</h1>" +
			"Access is denied. Retrying will not help. Please verify your <pre>key=</pre> parameter.</body></html>"}
	}
	return rest.Answer{Status: cmp.Or(f.Status(), 500), Body: fmt.Sprintf("<html><body>%s</body></html>", f.Problem)}
}
