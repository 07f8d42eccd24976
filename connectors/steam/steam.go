// Package steam collects a person's games, play times, achievements and friends from Steam.
//
//	manifest.json   what it declares: streams, schemas, the form for key and SteamID
//	steam.go        where the lists are, and what Steam hides
package steam

import (
	_ "embed"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Steam connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL:  "https://api.steampowered.com",
	Auth:     rest.HeaderKey{Header: "x-webapi-key", Variable: "STEAM_WEB_API_KEY"},
	QuotaOf:  []string{"STEAM_WEB_API_KEY"},
	Settings: []rest.Setting{{Name: "steamid", Variable: "STEAM_ID"}},
	Account: &rest.Lookup{Request: method("ISteamUser/GetPlayerSummaries/v2", "steamids"),
		Member: "response.players.*.steamid"},
	Errors: []rest.ErrorRule{{Contains: []string{"verify your", "key="}, Class: connectorkit.Unauthorized,
		Message: "Steam does not accept this Web API key. Copy it again from steamcommunity.com/dev/apikey, and connect " +
			"with it."}},
	Inspect: func(r *governhttp.Response) error {
		if r.Status == http.StatusOK && strings.Contains(string(r.Body), `"players":[]`) {
			return &connectorkit.Error{Class: connectorkit.NotFound, Status: r.Status,
				OwnerMessage: "Steam does not know this SteamID. Connect again with the number of 17 digits that your account " +
					"page shows."}
		}
		return nil
	},
	Streams: []rest.Stream{
		{Name: "profile", Request: method("ISteamUser/GetPlayerSummaries/v2", "steamids"), Items: "response.players",
			Reused: true, OmitEmpty: true, Fields: rest.Fields{
				"id": rest.From("steamid"), "name": rest.From("personaname"), "real_name": rest.From("realname"),
				"url": rest.From("profileurl"), "country": rest.From("loccountrycode"),
				"created_at": rest.From("timecreated").UnixTime()}},
		{Name: "friends", Request: method("ISteamUser/GetFriendList/v1", "steamid", "relationship", "friend"),
			Items: "friendslist.friends", Optional: rest.IfForbidden,
			Inspect: hidden(http.StatusUnauthorized, "{}", ""),
			Fields: rest.Fields{"id": rest.From("steamid"), "friends_since": rest.From("friend_since").UnixTime(),
				"url": rest.Joined("", rest.Constant(`"https://steamcommunity.com/profiles/"`), rest.From("steamid"))}},
		{Name: "games", Request: method("IPlayerService/GetOwnedGames/v1", "steamid", "include_appinfo", "1",
			"include_played_free_games", "1"), Select: omittedList("response.games", "response.game_count"),
			Total: "response.game_count", Shared: true, Inspect: hidden(http.StatusOK, `{"response":{}}`, hiddenGames),
			Fields: rest.Fields{"id": rest.NumberText("appid"), "minutes_played": rest.From("playtime_forever"),
				"minutes_windows": rest.From("playtime_windows_forever"), "minutes_mac": rest.From("playtime_mac_forever"),
				"minutes_linux": rest.From("playtime_linux_forever"), "minutes_deck": rest.From("playtime_deck_forever"),
				"minutes_offline": rest.From("playtime_disconnected"),
				"last_played_at":  rest.From("rtime_last_played").UnixTime(),
				"url": rest.Joined("/", rest.Constant(`"https://store.steampowered.com/app"`),
					rest.NumberText("appid"))}},
		{Name: "recent_play", Request: method("IPlayerService/GetRecentlyPlayedGames/v1", "steamid"),
			Select: omittedList("response.games", "response.total_count"), Sync: rest.DailySample{},
			Inspect: hidden(http.StatusOK, `{"response":{}}`, hiddenGames), Fields: rest.Fields{
				"id":      rest.Joined(":", rest.NumberText("appid"), rest.FromPartition("today")),
				"game_id": rest.NumberText("appid"), "observed_on": rest.FromPartition("today"),
				"minutes_two_weeks": rest.From("playtime_2weeks"), "minutes_played": rest.From("playtime_forever")}},
		{Name: "achievements", Request: method("ISteamUserStats/GetPlayerAchievements/v1", "steamid", "appid", "{id}", "l",
			"english"), Partitions: rest.ParentsOf("games", "appid", map[string]string{"game": "name"}, wasPlayed),
			Select: omittedList("playerstats.achievements", "playerstats.success"), Optional: rest.IfForbidden, OmitEmpty: true,
			Inspect: statsOf, Admit: func(item rest.Item) bool { return item.Text("achieved") == "1" },
			Fields: rest.Fields{
				"id":      rest.Joined(":", rest.FromPartition("id"), rest.From("apiname")),
				"game_id": rest.FromPartition("id"), "game_name": rest.FromPartition("game"),
				"unlocked_at": rest.From("unlocktime").UnixTime()}},
	},
}

const hiddenGames = "Your Steam profile hides your games. On your profile press Edit Profile, Privacy Settings, set " +
	"My profile and Game details to Public, and run this again."

// method is a request about the owner, who is named by a parameter.
func method(path, owner string, more ...string) rest.Request {
	q := url.Values{owner: {"{steamid}"}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return rest.Request{Path: path + "/", Query: q}
}

// hidden recognizes the answer for something that the profile does not show.
func hidden(status int, body, message string) func(*rest.Run, *governhttp.Response) (bool, error) {
	return func(_ *rest.Run, r *governhttp.Response) (bool, error) {
		if r.Status != status || strings.TrimSpace(string(r.Body)) != body {
			return false, nil
		}
		return true, &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status, OwnerMessage: message}
	}
}

// statsOf accepts the refusal for a game without achievements, which has none to read.
func statsOf(_ *rest.Run, r *governhttp.Response) (bool, error) {
	return r.Status == http.StatusBadRequest && strings.Contains(string(r.Body), "Requested app has no stats"), nil
}

// omittedList selects a list that an answer omits if it is empty. Sign is a member of an answer that is whole.
func omittedList(path, sign string) func(*rest.Answer) ([]jsontext.Value, error) {
	return func(a *rest.Answer) ([]jsontext.Value, error) {
		if a.Member(path) == nil && a.Member(sign) != nil {
			return nil, nil
		}
		return rest.FirstList(path)(a)
	}
}

// wasPlayed reports whether a game can have unlocked achievements.
func wasPlayed(game rest.Item) bool {
	return game.Text("playtime_forever") != "0" && string(game.Member("has_community_visible_stats")) == "true"
}
