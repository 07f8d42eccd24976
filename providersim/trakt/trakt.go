// Package trakt simulates the parts of Trakt's API that a person's own records are read from.
//
// Written from the schemas in Trakt's own repository trakt/trakt-api (July 2026) and its page "Rate Limits" (read in
// November 2026).
//
//   - Every request has the app's number in trakt-api-key, and trakt-api-version.
//   - Lists have 10 items, or limit. Headers count items and pages. The lists of a person come whole.
//   - An item has a type and the object of that type. Seasons and episodes come with their show.
//   - 1,000 requests in five minutes for a person. A refusal has a Retry-After.
//
// Not in the schemas, and chosen here: the largest limit; that all lists have pages if they are asked for; ids of items
// of different lists differ; the body of refusals.
package trakt

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Config sets what the simulated account holds.
type Config struct {
	Seed        uint64
	Plays, Each int // history; items of each other list
	MaxPage     int // largest page
	Token       string
}

// ClientID is the number of the app.
const ClientID = "app_under_test"

var profile = rest.Object{"username": "ottilie", "private": false, "name": "Ottilie Ångström", "vip": true,
	"ids": rest.Object{"slug": "ottilie", "uuid": "b6589fc6ab0dc82cf12099d1c2d40ab994e8410c"}, "location": "SF", "age": 41,
	"joined_at": "2010-09-25T17:49:25.000Z", "about": nil, "gender": "", "dob": "1985-01-02"}

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Clock: time.Date(2025, 2, 3, 9, 0, 0, 0, time.UTC),
		Tick: time.Minute, Limit: rest.Limit{Rate: 1000, Window: 5 * time.Minute, Announce: true},
		Guard: func(r *http.Request) rest.Answer {
			if r.Header.Get("Trakt-Api-Key") != ClientID || r.Header.Get("Trakt-Api-Version") != "2" {
				return rest.Answer{Status: http.StatusForbidden, Body: ""}
			}
			return rest.Answer{}
		},
		After: func(r *http.Request, _ int, h http.Header) {
			items, err := strconv.Atoi(h.Get("X-Pagination-Item-Count"))
			if limit := min(cfg.MaxPage, 10); err == nil {
				if r.URL.Query().Has("limit") {
					limit = cfg.MaxPage
				}
				h.Set("X-Pagination-Page-Count", strconv.Itoa((items+limit-1)/limit))
			}
		},
		Truth: func(add rest.AddTruth) {
			add("profile", profile["ids"].(rest.Object)["uuid"].(string), profile, false)
		}})
	s.Handle("GET /users/settings", "", func(*http.Request) rest.Answer {
		return rest.OK(rest.Object{"user": profile, "account": rest.Object{"timezone": "Europe/Berlin"}})
	})
	pager := rest.Pager{Style: rest.Number, Place: "page", Size: "limit", Usual: 10, Cap: cfg.MaxPage,
		TotalHeader: "X-Pagination-Item-Count"}
	open := func(stream, route string, count int, kinds []string, fill func(row *rest.Row)) {
		s.Open(&rest.Collection{Stream: stream, Count: count, Show: plain, Edit: fill, New: func(row *rest.Row) {
			row.Data = media(kinds[row.N%len(kinds)], row.N)
			row.At = s.Advance(time.Hour)
			row.Data["id"] = 100 + s.NextID()
			row.ID = fmt.Sprint(row.Data["id"])
			fill(row)
		}})
		s.Handle("GET "+route, "", func(r *http.Request) rest.Answer {
			rows := rest.Filter(s.Live(stream), func(row *rest.Row) bool {
				return r.PathValue("list") == "" || row.Data["list_id"] == r.PathValue("list")
			})
			return rest.ListRows(s, r, pager, rest.SortByTime(rows, false), nil, func(row *rest.Row) rest.Object {
				shown := maps.Clone(row.Data)
				delete(shown, "list_id")
				return shown
			})
		})
	}
	stamp := func() string { return s.Clock().Format("2006-01-02T15:04:05.000Z") }
	films, all := []string{"movie", "show"}, []string{"episode", "movie", "show", "season"}
	listed := func(row *rest.Row) {
		row.Data["rank"], row.Data["listed_at"], row.Data["notes"] = row.N+1, stamp(), nil
		if row.N%2 == 1 || row.Version > 0 {
			row.Data["notes"] = fmt.Sprint("Schön 琴 ", row.Version)
		}
	}
	open("history", "/sync/history", cfg.Plays, []string{"episode", "movie"}, func(row *rest.Row) {
		row.Data["watched_at"], row.Data["action"] = stamp(), []string{"scrobble", "checkin", "watch"}[row.N%3]
	})
	open("ratings", "/sync/ratings", cfg.Each, all, func(row *rest.Row) {
		delete(row.Data, "id")
		kind := row.Data["type"].(string)
		row.ID = fmt.Sprint(kind, ":", row.Data[kind].(rest.Object)["ids"].(rest.Object)["trakt"])
		row.Data["rated_at"], row.Data["rating"] = stamp(), 1+(row.N+row.Version)%10
	})
	open("watchlist", "/sync/watchlist", cfg.Each, all, listed)
	open("favorites", "/sync/favorites", cfg.Each, films, listed)
	open("comments", "/users/me/comments/all/all", cfg.Each, all, func(row *rest.Row) {
		row.Data["comment"] = rest.Object{"id": row.Data["id"], "parent_id": (row.N % 2) * 7, "created_at": stamp(),
			"updated_at": stamp(), "comment": fmt.Sprint("Gut & lang ", row.N), "spoiler": false, "review": row.N%2 == 0,
			"replies": 0, "likes": 2, "language": "de", "user_stats": rest.Object{"rating": nil, "play_count": 1}}
		delete(row.Data, "id")
	})
	s.Open(&rest.Collection{Stream: "lists", Count: 3, Route: "GET /users/me/lists", New: func(row *rest.Row) {
		id := 100 + s.NextID()
		row.ID = fmt.Sprint(id)
		row.Data = rest.Object{"name": "Für später", "description": "", "privacy": "friends",
			"type": "personal", "display_numbers": true, "allow_comments": false, "sort_by": "rank", "sort_how": "asc",
			"created_at": stamp(), "updated_at": stamp(), "item_count": 2, "comment_count": 0, "likes": 1,
			"ids": rest.Object{"trakt": id, "slug": "l"}}
	}})
	open("list_items", "/users/me/lists/{list}/items", cfg.Each, all, func(row *rest.Row) {
		listed(row)
		row.Data["list_id"] = s.Live("lists")[row.N%2].ID
	})
	return s
}

// media returns an item with the object of its type.
func media(kind string, n int) rest.Object {
	show := rest.Object{"title": "Wasser", "year": 2011, "ids": rest.Object{"trakt": 50, "slug": "wasser", "tvdb": nil}}
	own := rest.Object{"title": fmt.Sprint("Überfahrt ", n), "year": 1998,
		"ids": rest.Object{"trakt": 1000 + n, "imdb": "tt01"}}
	switch kind {
	case "episode":
		own = rest.Object{"season": 1, "number": n, "title": nil, "ids": rest.Object{"trakt": 1000 + n, "tvdb": 3}}
	case "season":
		own = rest.Object{"number": n, "ids": rest.Object{"trakt": 1000 + n}}
	default:
		return rest.Object{"type": kind, kind: own}
	}
	return rest.Object{"type": kind, kind: own, "show": show}
}

// plain returns an item of the ground truth with the members that its type has elsewhere.
func plain(row *rest.Row) rest.Object {
	truth, kind := maps.Clone(row.Data), row.Data["type"].(string)
	if comment, is := truth["comment"].(rest.Object); is {
		maps.Copy(truth, comment)
	}
	own := row.Data[kind].(rest.Object)
	maps.Copy(truth, rest.Object{"title": own["title"], "ids": own["ids"], "year": own["year"], "season": own["season"]})
	if kind == "show" {
		truth["show_title"] = own["title"]
	}
	if kind == "episode" {
		truth["episode"] = own["number"]
	}
	if kind == "season" {
		truth["season"] = own["number"]
	}
	if show, of := row.Data["show"].(rest.Object); of {
		truth["title"], truth["show_title"], truth["year"] = show["title"], show["title"], show["year"]
	}
	return truth
}
