// Package raindrop simulates the parts of Raindrop.io's REST API v1 that a person's own bookmarks are read from.
//
// Written from Raindrop.io's API documentation (repository of the developer site, revision 7579d2c of 2024-12-24):
// "Raindrops", "Multiple raindrops", "Collections", "Collection methods", "Highlights", "Authenticated user" and the
// overview with the rate limit.
//
//   - Pages begin with 0, have 25 items unless perpage asks for more, and 50 at most.
//   - Collection 0 is everything but the trash. Collections within others have a list of their own.
//   - 120 requests a minute and person, with X-RateLimit headers; 429 has no Retry-After.
//   - A bad token gets 401 with plain text. Other errors have result, error and errorMessage.
//
// Not in the documentation, and chosen here: the window of the limit begins with the minute; perpage over 50 is cut.
package raindrop

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamBookmarks   = "bookmarks"
	StreamCollections = "collections"
	StreamHighlights  = "highlights"
)

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed                               uint64
	Bookmarks, Collections, Highlights int
	MaxPage                            int // largest page (50)
	Rate                               int // requests in a minute (120)
	Token                              string
	Now                                func() time.Time // nil means the wall clock
}

const owner = 3271

var titles = []string{"On slow software", "Brot & Butter", "雨の日", "<b>Bold</b> claims", "Łódź by night"}

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	var s *rest.Service
	window := &rest.FixedWindow{Rate: cmp.Or(cfg.Rate, 120), Window: time.Minute}
	s = rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Now: cfg.Now, Errors: renderError,
		Clock: time.Date(2024, 2, 3, 9, 0, 0, 0, time.UTC), Tick: time.Minute,
		Quota: func(h http.Header) bool { return window.Spend(s.Now(), h) }})
	stamp := func(d time.Duration) string { return s.Advance(d).Format("2006-01-02T15:04:05.000Z") }
	list := func(pattern, stream string, pager rest.Pager, keep func(*rest.Row) bool) {
		pager.Items = "items"
		pager.Extend = func(_ *http.Request, _ rest.Page, body rest.Object) { body["result"] = true }
		s.Handle(pattern, "", func(r *http.Request) rest.Answer {
			q := r.URL.Query()
			if n, err := strconv.Atoi(q.Get("page")); err == nil { // ours count from 1
				q.Set("page", strconv.Itoa(n+1))
			}
			return rest.Serve(s, r, pager, rest.List[*rest.Row]{Params: q, Keep: keep,
				All: rest.SortByTime(s.Live(stream), false), Show: func(row *rest.Row) rest.Object { return row.Data }})
		})
	}
	nested := func(row *rest.Row) bool { return row.Data["parent"] != nil }
	list("GET /rest/v1/collections", StreamCollections, rest.Pager{}, func(row *rest.Row) bool { return !nested(row) })
	list("GET /rest/v1/collections/childrens", StreamCollections, rest.Pager{}, nested)
	pages := rest.Pager{Style: rest.Number, Place: "page", Size: "perpage", Usual: 25, Most: 50, Cap: cfg.MaxPage}
	list("GET /rest/v1/raindrops/0", StreamBookmarks, pages, nil)
	list("GET /rest/v1/highlights", StreamHighlights, pages, nil)
	s.Handle("GET /rest/v1/user", "", func(*http.Request) rest.Answer {
		return rest.OK(rest.Object{"result": true, "user": rest.Object{"_id": owner, "fullName": "Ottilie B", "pro": true,
			"email": "ottilie@example.org", "registered": "2019-09-30T07:51:15.406Z"}})
	})
	s.Open(&rest.Collection{Stream: StreamCollections, Count: cfg.Collections,
		New: func(c *rest.Row) {
			at, id := stamp(time.Hour), 8_400_000+s.NextID()
			c.ID, c.Data = strconv.Itoa(id), rest.Object{"_id": id, "title": titles[c.N%len(titles)], "count": c.N,
				"access": rest.Object{"level": 4, "draggable": true}, "color": "#0c797d", "cover": []string{}, "created": at,
				"lastUpdate": at, "expanded": false, "public": c.N%4 == 1, "sort": c.N, "user": rest.Object{"$id": owner},
				"view": "list"}
			if all := s.Live(StreamCollections); len(all) > 0 && c.N%3 == 2 {
				c.Data["parent"] = rest.Object{"$id": all[0].Data["_id"]}
			}
		},
		Edit: func(c *rest.Row) { c.Data["title"], c.Data["lastUpdate"] = "Renamed", stamp(time.Second) }})
	s.Open(&rest.Collection{Stream: StreamBookmarks, Count: cfg.Bookmarks,
		New: func(b *rest.Row) {
			at, id := stamp(5*time.Hour), 700_000_000+31*s.NextID()
			b.At, b.ID = s.Clock(), strconv.Itoa(id)
			b.Data = rest.Object{"_id": id, "collection": rest.Object{"$id": -1}, "cover": "", "created": at, "lastUpdate": at,
				"domain": "example.org", "excerpt": "What it is about", "note": "", "link": fmt.Sprint("https://example.org/", id),
				"media": []rest.Object{{"link": "https://example.org/a.png"}}, "tags": []string{"reading", "später"},
				"title": titles[b.N%len(titles)], "type": "article", "user": rest.Object{"$id": owner}, "important": b.N%5 == 0,
				"broken": false, "highlights": []rest.Object{}}
			if parents := s.Live(StreamCollections); len(parents) > 0 && b.N%2 == 0 {
				b.Data["collection"] = rest.Object{"$id": parents[b.N%len(parents)].Data["_id"]}
			}
			if b.N%6 == 3 {
				b.Data["type"], b.Data["tags"], b.Data["domain"] = "document", []string{}, "raindrop.io"
				b.Data["file"] = rest.Object{"name": "bill.pdf", "size": 52_311, "type": "application/pdf"}
				b.Data["cache"] = rest.Object{"status": "ready", "size": 52_400, "created": at}
			}
			if b.N%6 == 4 {
				b.Data["creatorRef"] = rest.Object{"_id": 88, "fullName": "Mira K"}
				b.Data["reminder"] = rest.Object{"data": "2026-09-01T10:00:00.000Z"}
			}
		},
		Edit: func(b *rest.Row) { b.Data["note"], b.Data["lastUpdate"] = "read again", stamp(time.Second) }})
	s.Open(&rest.Collection{Stream: StreamHighlights, Count: cfg.Highlights,
		New: func(h *rest.Row) {
			of := s.Live(StreamBookmarks)[h.N%3]
			h.ID, h.Data = fmt.Sprintf("62388e9e48b63606%08x", s.NextID()), rest.Object{"text": "A passage", "color": "yellow",
				"note": map[bool]string{true: "why"}[h.N%2 == 0], "created": stamp(time.Hour), "tags": of.Data["tags"],
				"raindropRef": of.Data["_id"], "link": of.Data["link"], "title": of.Data["title"]}
			h.At, h.Data["_id"] = s.Clock(), h.ID
		}})
	// A bookmark that is moved to the trash leaves the lists, and so do its highlights. It can come back.
	toggle := func(trashed bool) func() string {
		return rest.Edit(s, func() []*rest.Row { return s.Rows[StreamBookmarks] },
			func(b *rest.Row) bool { return b.Gone != trashed }, func(b *rest.Row) string {
				b.Gone = trashed
				for _, h := range s.Rows[StreamHighlights] {
					if h.Data["raindropRef"] == b.Data["_id"] {
						h.Gone = trashed
					}
				}
				return b.ID
			})
	}
	s.Operations = map[string]func() string{"trash": toggle(true), "restore": toggle(false)}
	return s
}

func renderError(f rest.Refusal) rest.Answer {
	switch f.Problem {
	case rest.NoToken, rest.BadToken, rest.ExpiredToken:
		return rest.Answer{Status: http.StatusUnauthorized, Body: "Unauthorized"}
	}
	return rest.Answer{Status: f.Status(), Body: rest.Object{"result": false, "error": f.Name,
		"errorMessage": fmt.Sprint(f.Problem)}}
}
