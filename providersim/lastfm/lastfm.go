// Package lastfm simulates the parts of Last.fm's API 2.0 that a person's own listening is read from.
//
// Written from the community's documentation of that API (repository lastfm-docs/api-docs: user.getInfo,
// user.getRecentTracks, user.getLovedTracks, read in November 2026), which has whole answers.
//
//   - One address serves every method. Numbers are texts. Pages are numbered, 50 tracks unless limit asks for more.
//   - A list of one track is an object. A track that plays now is in front of a page, without a date.
//   - from and to select plays by time, in seconds.
//   - Errors have a number: 6 for an unknown name, 10 for a bad key, 17 for a hidden history, 29 for a limit.
//
// Not in the documentation, and chosen here: the status of errors 10 and 29; the bounds of from and to; the rate.
package lastfm

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamProfile   = "profile"
	StreamLoved     = "loved_tracks"
	StreamScrobbles = "scrobbles"
)

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed         uint64
	Plays, Loved int
	MaxPage      int  // largest page
	Playing      bool // a track plays now
	Token        string
	Now          func() time.Time // clock of the data and of the Date header; nil means the wall clock
}

// User is the name of the account.
const User = "ottilie_"

// recentPlays is how many plays back a play can come late.
const recentPlays = 40

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	var profile rest.Object
	var start time.Time
	hidden := false
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Credential: rest.QueryKey("api_key"), Now: cfg.Now,
		Errors: renderError, Limit: rest.Limit{Rate: 1 << 20, Window: time.Second},
		Truth: func(add rest.AddTruth) {
			add(StreamProfile, User, identified(User, "registered_at", start.AddDate(0, 0, -100), profile), false)
		}})
	start = s.Now().UTC().Truncate(time.Second)
	profile = rest.Object{"name": User, "realname": "Ottilie Ångström", "country": "Austria", "type": "user",
		"age": "0", "gender": "n", "playcount": "138223", "playlists": "0", "subscriber": "0", "bootstrap": "0",
		"image":      images(),
		"url":        "https://www.last.fm/user/" + User,
		"registered": rest.Object{"unixtime": seconds(start.AddDate(0, 0, -100)), "#text": start.AddDate(0, 0, -100).Unix()}}
	track := func(row *rest.Row, at time.Time, artist rest.Object) {
		row.At = at
		row.Data = rest.Object{"name": fmt.Sprint("Überfahrt / ", row.N%7), "mbid": "", "artist": artist, "image": images(),
			"url":  fmt.Sprint("https://www.last.fm/music/Koto+%26+Fr%C3%BChling/_/", row.N%7),
			"date": rest.Object{"uts": seconds(at), "#text": at.Format("02 Jan 2006, 15:04")}}
		if row.N%2 == 1 {
			row.Data["mbid"] = rest.UUID(row.N % 7)
		}
	}
	s.Open(&rest.Collection{Stream: StreamLoved, Count: cfg.Loved, Show: dated("loved_at"), New: func(row *rest.Row) {
		track(row, start.Add(time.Duration(row.N-500)*time.Hour), rest.Object{"name": "琴 & Frühling", "mbid": "",
			"url": "https://www.last.fm/music/Koto"})
		row.Data["name"], row.Data["streamable"] = fmt.Sprint("Song ", row.N), rest.Object{"#text": "0", "fulltrack": "0"}
		row.ID = fmt.Sprint("琴 & Frühling:Song ", row.N)
	}})
	s.Open(&rest.Collection{Stream: StreamScrobbles, Count: cfg.Plays, Show: dated("played_at"), New: func(row *rest.Row) {
		back := cfg.Plays - row.N
		if back <= 0 { // a player was offline
			back = 1 + row.N%recentPlays
		}
		at := start.Add(-time.Duration(back) * 97 * time.Minute).Add(time.Duration(max(0, row.N-cfg.Plays)) * time.Second)
		track(row, at, rest.Object{"#text": "琴 & Frühling", "mbid": rest.UUID(3)})
		row.Data["album"], row.Data["streamable"] = rest.Object{"#text": "", "mbid": ""}, "0"
		if row.N%3 == 1 {
			row.Data["album"] = rest.Object{"#text": "Wasser", "mbid": rest.UUID(9)}
		}
		row.ID = fmt.Sprintf("%s:琴 & Frühling:%s", seconds(at), row.Data["name"])
	}})
	s.Operations = map[string]func() string{
		"remove_scrobbles": func() string {
			return s.Delete(StreamScrobbles, func(row *rest.Row) bool { return s.Now().Sub(row.At) < 3*24*time.Hour })
		},
		"hide": func() string { hidden = true; return "" },
	}
	list := func(r *http.Request, stream, name string, keep func(*rest.Row) bool) rest.Answer {
		return rest.ListRows(s, r, rest.Pager{Style: rest.Number, Place: "page", Size: "limit", Usual: 50, Most: 200,
			Cap: cfg.MaxPage, Items: name + ".track", Extend: func(_ *http.Request, page rest.Page, body rest.Object) {
				pages := (page.Total + page.Size - 1) / page.Size
				inner, shown := body[name].(rest.Object), slices.Clone(page.Rows)
				inner["@attr"] = rest.Object{"user": User, "page": fmt.Sprint(page.Number), "perPage": fmt.Sprint(page.Size),
					"total": fmt.Sprint(page.Total), "totalPages": fmt.Sprint(pages)}
				if cfg.Playing && stream == StreamScrobbles {
					now := rest.Members(s.Rows[stream][0].Data, "name", "mbid", "artist", "album", "image", "url", "streamable")
					now["@attr"] = rest.Object{"nowplaying": "true"}
					shown = slices.Insert(shown, 0, now)
				}
				if inner["track"] = shown; len(shown) == 1 {
					inner["track"] = shown[0]
				}
			}}, rest.SortByTime(s.Rows[stream], false), keep, func(row *rest.Row) rest.Object { return row.Data })
	}
	s.Handle("GET /2.0/", "", func(r *http.Request) rest.Answer {
		q := r.URL.Query()
		switch {
		case q.Get("user") != User || q.Get("format") != "json":
			return s.Refuse(r, rest.NotFound, "user")
		case q.Get("method") == "user.getinfo":
			return rest.OK(rest.Object{"user": profile})
		case q.Get("method") == "user.getlovedtracks":
			return list(r, StreamLoved, "lovedtracks", nil)
		case hidden:
			return s.Refuse(r, rest.NoScope, "")
		}
		from, _ := rest.NumberParameter(q, "from", 0)
		to, _ := rest.NumberParameter(q, "to", int(s.Now().Unix()))
		return list(r, StreamScrobbles, "recenttracks", func(row *rest.Row) bool {
			return row.At.Unix() > int64(from) && row.At.Unix() < int64(to)
		})
	})
	return s
}

func seconds(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// identified returns an object of the ground truth, with the id and the time that Last.fm does not write so.
func identified(id, name string, at time.Time, o rest.Object) rest.Object {
	out := maps.Clone(o)
	out["id"], out[name] = id, at.Format(time.RFC3339)
	return out
}

func dated(name string) func(*rest.Row) rest.Object {
	return func(row *rest.Row) rest.Object { return identified(row.ID, name, row.At, row.Data) }
}

func images() []rest.Object {
	return []rest.Object{{"size": "small", "#text": "https://example.org/34s.png"}}
}

func renderError(f rest.Refusal) rest.Answer {
	number := map[rest.Problem]int{rest.NotFound: 6, rest.BadToken: 10, rest.NoToken: 10, rest.ExpiredToken: 10,
		rest.NoScope: 17, rest.RateLimited: 29, rest.Unavailable: 16}[f.Problem]
	status := f.Status()
	if number == 10 {
		status = http.StatusForbidden
	}
	return rest.Answer{Status: status, Body: rest.Object{"error": cmp.Or(number, 8), "message": fmt.Sprint(f.Problem)}}
}
