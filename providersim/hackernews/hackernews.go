// Package hackernews simulates the parts of the Hacker News API v0 that what a person wrote is read from.
//
// Written from the API's documentation (README.md of the repository HackerNews/API, read in November 2026), which has
// whole answers.
//
//   - No request has a credential. A name or an id that does not exist is answered with null and the status 200.
//   - A user lists the ids of their stories, polls and comments, the newest first. Names have capital letters.
//   - Each item is an object of its own. Times are seconds. Members without a value are absent.
//
// Not in the documentation, and chosen here: a deleted item keeps its id, type, time and parent, and stays in the list;
// every answer of the gate but 200.
package hackernews

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamProfile = "profile"
	StreamItems   = "items"
)

// User is the name of the account.
const User = "Ottilie"

// Config sets what the simulated account holds.
type Config struct {
	Seed  uint64
	Items int
	Lost  int              // ids in the list that have no item
	Now   func() time.Time // clock of the data and of the Date header; nil means the wall clock
}

// newestDays is how far back texts change, points are added and items are deleted.
const newestDays = 12

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	var profile rest.Object
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: "none", Now: cfg.Now, Truth: func(add rest.AddTruth) {
		add(StreamProfile, User, dated(profile, "created"), false)
	}})
	start := s.Now().UTC().Truncate(time.Second)
	profile = rest.Object{"id": User, "created": start.AddDate(-9, 0, 0).Unix(), "karma": 2937,
		"about": "Gardens &amp; <i>Wasser</i> 雨"}
	s.Open(&rest.Collection{Stream: StreamItems, Count: cfg.Items, Show: func(row *rest.Row) rest.Object {
		return dated(row.Data, "time")
	}, New: func(row *rest.Row) {
		row.At = start.Add(-time.Duration(cfg.Items-row.N) * 31 * time.Hour)
		if row.N >= cfg.Items {
			row.At = s.Now().UTC().Truncate(time.Second)
		}
		id := 8_000_000 + 7*row.N
		row.Data = rest.Object{"by": User, "id": id, "time": row.At.Unix(), "type": "comment", "parent": id - 3,
			"text": fmt.Sprint("Aber ja &#x2F; yes<p>", row.N)}
		switch row.N % 4 {
		case 1:
			row.Data = rest.Object{"by": User, "id": id, "time": row.At.Unix(), "type": "story", "score": 1 + row.N,
				"title": fmt.Sprint("Show HN: Pump ", row.N), "url": "https://example.org/?a=1&b=2", "descendants": 0}
		case 3:
			row.Data["dead"], row.Data["kids"] = true, []int{id + 2, id + 1}
		}
	}})
	recent := func(row *rest.Row) bool { return s.Now().Sub(row.At) < newestDays*24*time.Hour }
	s.Operations = map[string]func() string{
		"edit_items": s.EditRow(StreamItems, recent, func(row *rest.Row) { row.Data["text"] = "Edited" }),
		"vote_items": s.EditRow(StreamItems, func(row *rest.Row) bool { return recent(row) && row.Data["score"] != nil },
			func(row *rest.Row) { row.Data["score"] = row.Data["score"].(int) + 5 }),
		"remove_items": func() string { return s.Delete(StreamItems, recent) },
	}
	s.HandleOpen("GET /v0/user/{name}", func(r *http.Request) rest.Answer {
		if r.PathValue("name") != User+".json" {
			return rest.OK(nil)
		}
		body := maps.Clone(profile)
		submitted := []int{}
		for i := range cfg.Lost {
			submitted = append(submitted, 9_000_000-i)
		}
		for _, row := range rest.SortByTime(s.Rows[StreamItems], false) {
			submitted = append(submitted, row.Data["id"].(int))
		}
		if body["submitted"] = submitted; len(submitted) == 0 {
			delete(body, "submitted")
		}
		return rest.OK(body)
	})
	s.HandleOpen("GET /v0/item/{id}", func(r *http.Request) rest.Answer {
		id, _ := strings.CutSuffix(r.PathValue("id"), ".json")
		for _, row := range s.Rows[StreamItems] {
			switch {
			case row.ID != id:
			case row.Gone:
				return rest.OK(rest.Object{"deleted": true, "id": row.Data["id"], "time": row.At.Unix(), "type": row.Data["type"]})
			default:
				return rest.OK(row.Data)
			}
		}
		return rest.OK(nil)
	})
	return s
}

// dated returns an object of the ground truth, with a time as text.
func dated(o rest.Object, member string) rest.Object {
	out := maps.Clone(o)
	out["created_at"] = time.Unix(o[member].(int64), 0).UTC().Format(time.RFC3339)
	return out
}
