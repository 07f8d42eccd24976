// Package jellyfin simulates the parts of Jellyfin's API that a user's history is read from.
//
// Written from Jellyfin's OpenAPI document of version 12.0.0 (a public copy of July 2026) and the page "Authorization"
// of its documentation (read in November 2026).
//
//   - The header Authorization has the scheme MediaBrowser, and the key as the value of Token, in quotes.
//   - Items are below folders: without recursive a list has only the libraries. The parameter userId adds UserData.
//   - Lists begin at startIndex and have all further items unless limit is set. Some members come only if the parameter
//     fields names them.
//
// Not in the documents, and chosen here: ids without hyphens and times with seven decimals, as servers write them; the
// body of refusals.
package jellyfin

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamMovies    = "movies"
	StreamEpisodes  = "episodes"
	StreamTracks    = "tracks"
	StreamFavorites = "favorites"
)

// Config sets what the simulated server holds.
type Config struct {
	Seed    uint64
	Each    int // played films, episodes and tracks each, and favourites
	MaxPage int // largest page
	Token   string
}

// User is the name of the owner's user.
const User = "Ottilie"

// kinds lists the kind of a stream's items.
var kinds = map[string]string{StreamMovies: "Movie", StreamEpisodes: "Episode", StreamTracks: "Audio"}

// New returns a server generated from cfg.
func New(cfg Config) *rest.Service {
	own := id(1)
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Clock: time.Date(2025, 2, 3, 9, 0, 0, 0, time.UTC),
		Tick: time.Minute, Credential: func(r *http.Request) string {
			_, after, _ := strings.Cut(rest.AuthorizationWord("MediaBrowser")(r), `Token="`)
			token, _, _ := strings.Cut(after, `"`)
			return token
		}})
	s.Handle("GET /Users", "", func(*http.Request) rest.Answer {
		return rest.OK([]rest.Object{{"Name": "Leander", "Id": id(2), "ServerId": id(9), "HasPassword": true},
			{"Name": User, "Id": own, "ServerId": id(9), "HasPassword": true}})
	})
	stamp := func() string { return s.Advance(97*time.Minute).Format("2006-01-02T15:04:05") + ".1234567Z" }
	play := func(row *rest.Row) {
		row.Data["UserData"] = rest.Object{"PlaybackPositionTicks": 0, "PlayCount": 1 + row.Version,
			"IsFavorite": row.N%4 == 1, "Played": true, "LastPlayedDate": stamp(), "Key": "k", "ItemId": row.Data["Id"]}
	}
	create := func(stream string) func(*rest.Row) {
		return func(row *rest.Row) {
			kind := kinds[stream]
			if stream == StreamFavorites {
				kind = []string{"Series", "MusicAlbum", "Movie"}[row.N%3]
			}
			row.ID = id(100 + s.NextID())
			row.Data = rest.Object{"Name": fmt.Sprint("Überfahrt 琴 ", row.N), "ServerId": id(9), "Id": row.ID, "Type": kind,
				"IsFolder": false, "RunTimeTicks": int64(row.N)*36_000_000_000 + 10_000_000, "Genres": []string{},
				"ProviderIds": rest.Object{}, "MediaType": "Video"}
			if row.N%2 == 1 {
				maps.Copy(row.Data, rest.Object{"ProductionYear": 1998, "PremiereDate": "1998-04-05T00:00:00.0000000Z",
					"OriginalTitle": "Crossing", "Genres": []string{"Drama"}, "ProviderIds": rest.Object{"Imdb": "tt01", "Tmdb": "7"}})
			}
			play(row)
			switch user := row.Data["UserData"].(rest.Object); kind {
			case "Episode":
				maps.Copy(row.Data, rest.Object{"SeriesName": "Wasser", "SeriesId": id(5), "SeasonId": id(6),
					"SeasonName": "Season 1", "ParentIndexNumber": 1, "IndexNumber": row.N + 1})
				user["Rating"], user["Likes"] = 8.5, true
			case "Audio", "MusicAlbum":
				maps.Copy(row.Data, rest.Object{"Album": "Wasser", "AlbumId": id(7), "AlbumArtist": "琴 & Frühling",
					"Artists": []string{"琴", "Frühling"}})
			}
		}
	}
	for _, stream := range []string{StreamMovies, StreamEpisodes, StreamTracks, StreamFavorites} {
		s.Open(&rest.Collection{Stream: stream, Count: cfg.Each, New: create(stream), Edit: play, Show: inUTC})
	}
	pager := rest.Pager{Style: rest.Offset, Place: "startIndex", Size: "limit", Usual: 1 << 20, Cap: cfg.MaxPage,
		Items: "Items", Total: "TotalRecordCount", Extend: func(_ *http.Request, p rest.Page, body rest.Object) {
			body["Items"], body["StartIndex"] = append([]rest.Object{}, p.Rows...), p.Offset
		}}
	s.Handle("GET /Items", "", func(r *http.Request) rest.Answer {
		q := r.URL.Query()
		var rows []*rest.Row
		for _, stream := range []string{StreamMovies, StreamEpisodes, StreamTracks, StreamFavorites} {
			played := stream != StreamFavorites && q.Get("filters") == "IsPlayed" && q.Get("includeItemTypes") == kinds[stream]
			if played || stream == StreamFavorites && q.Get("filters") == "IsFavorite" || q.Get("filters") == "" {
				rows = append(rows, s.Live(stream)...)
			}
		}
		if q.Get("recursive") != "true" {
			rows = nil // the libraries, which have no history
		}
		return rest.ListRows(s, r, pager, rows, nil, func(row *rest.Row) rest.Object {
			shown := maps.Clone(row.Data)
			for _, name := range []string{"Genres", "ProviderIds", "OriginalTitle"} {
				if !slices.Contains(strings.Split(q.Get("fields"), ","), name) {
					delete(shown, name)
				}
			}
			if q.Get("userId") != own {
				delete(shown, "UserData")
			}
			return shown
		})
	})
	return s
}

// id returns an id as servers write it.
func id(n int) string { return strings.ReplaceAll(rest.UUID(n), "-", "") }

// inUTC returns an item of the ground truth, with the time and the length as records have them.
func inUTC(row *rest.Row) rest.Object {
	truth := maps.Clone(row.Data)
	played, _ := row.Data["UserData"].(rest.Object)["LastPlayedDate"].(string)
	truth["last_played_at"], truth["run_time_s"] = played, row.Data["RunTimeTicks"].(int64)/10_000_000
	if day, is := truth["PremiereDate"].(string); is {
		truth["PremiereDate"] = strings.Replace(day, ".0000000", "", 1)
	}
	return truth
}
