// Package readwise simulates the export of Readwise's API v2.
//
// Written from Readwise's API documentation ("Authentication", "Rate Limiting", "Highlight EXPORT", read in excerpts in
// November 2026); the names of members were compared with the reference of a public Ruby client of that API.
//
//   - The header is "Authorization: Token …".
//   - The export has books, each with its highlights, in pages with nextPageCursor, which is null on the last one.
//     count is the number of all highlights. Deleted ones are left out.
//   - 240 requests a minute; 429 has a Retry-After.
//
// Not in the excerpts, and chosen here: how many books a page has; the body of errors.
package readwise

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamBooks      = "books"
	StreamHighlights = "highlights"
)

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed              uint64
	Books, Highlights int
	MaxPage           int // books in a page (100)
	Undated           int // every n-th highlight has no highlighted_at; zero means none
	Rate              int // requests in a minute (240)
	Token             string
}

var titles = []string{"The Overstory", "Über Stille", "雪国", "<b>HTML</b> & you"}

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Credential: rest.AuthorizationWord("Token"),
		Clock: time.Date(2024, 2, 3, 9, 0, 0, 0, time.UTC), Tick: time.Minute,
		Limit: rest.Limit{Rate: cmp.Or(cfg.Rate, 240), Window: time.Minute, Announce: true},
		Errors: func(f rest.Refusal) rest.Answer {
			return rest.Answer{Status: f.Status(), Body: rest.Object{"detail": fmt.Sprint(f.Problem)}}
		}})
	stamp := func(d time.Duration) string { return s.Advance(d).Format("2006-01-02T15:04:05.000Z") }
	s.Open(&rest.Collection{Stream: StreamBooks, Count: cfg.Books, New: func(b *rest.Row) {
		id := 1_200_000 + s.NextID()
		b.ID, b.Data = fmt.Sprint(id), rest.Object{"user_book_id": id, "title": titles[b.N%len(titles)],
			"author": "A. Writer", "readable_title": titles[b.N%len(titles)], "source": "kindle",
			"cover_image_url": "https://example.org/c.jpg",
			"unique_url":      nil, "book_tags": []rest.Object{}, "category": "books", "document_note": "", "summary": "",
			"readwise_url": fmt.Sprint("https://readwise.io/bookreview/", id), "source_url": nil, "asin": "B00ABC",
			"is_deleted": false}
		if b.N%2 == 1 {
			b.Data["category"], b.Data["source"], b.Data["asin"] = "articles", "reader", nil
			b.Data["source_url"], b.Data["book_tags"] = "https://example.org/a", []rest.Object{{"id": 5, "name": "später"}}
			b.Data["document_note"], b.Data["summary"] = "worth it", "What it is about"
		}
	}, Edit: func(b *rest.Row) { b.Data["title"] = "Renamed" }})
	s.Open(&rest.Collection{Stream: StreamHighlights, Count: cfg.Highlights, New: func(h *rest.Row) {
		books, id := s.Live(StreamBooks), 59_700_000+s.NextID()
		h.Parent = books[h.N%len(books)]
		at := stamp(3 * time.Hour)
		h.ID, h.Data = fmt.Sprint(id), rest.Object{"id": id, "text": fmt.Sprint("A passage ", h.N), "location": 100 + h.N,
			"location_type": "location", "note": "", "color": "yellow", "highlighted_at": at, "created_at": stamp(time.Minute),
			"updated_at": stamp(0), "external_id": nil, "end_location": nil, "url": nil, "tags": []rest.Object{},
			"book_id": h.Parent.Data["user_book_id"], "is_favorite": h.N%5 == 0, "is_discard": false, "is_deleted": false,
			"readwise_url": fmt.Sprint("https://readwise.io/open/", id)}
		if h.N%3 == 1 {
			h.Data["note"], h.Data["tags"] = "why", []rest.Object{{"id": 8, "name": "ideas"}}
			h.Data["external_id"], h.Data["url"] = "01gwfv", "https://read.readwise.io/read/01gwfv"
		}
		if cfg.Undated > 0 && h.N%cfg.Undated == 0 {
			h.Data["highlighted_at"] = nil
		}
	}, Edit: func(h *rest.Row) { h.Data["note"], h.Data["updated_at"] = "read again", stamp(time.Minute) }})
	pager := rest.Pager{Style: rest.Token, Place: "pageCursor", Usual: 100, Cap: cfg.MaxPage, Items: "results",
		Next: "nextPageCursor", Extend: func(_ *http.Request, _ rest.Page, body rest.Object) {
			body["count"] = len(s.Live(StreamHighlights))
		}}
	s.Handle("GET /api/v2/export/", "", func(r *http.Request) rest.Answer {
		return rest.ListRows(s, r, pager, s.Rows[StreamBooks], nil, func(b *rest.Row) rest.Object {
			o := maps.Clone(b.Data)
			o["highlights"] = rest.Show(rest.Filter(s.Live(StreamHighlights), func(h *rest.Row) bool { return h.Parent == b }),
				func(h *rest.Row) rest.Object { return h.Data })
			return o
		})
	})
	// A book is deleted with its highlights.
	s.Operations = map[string]func() string{"drop_book": s.EditRow(StreamBooks, nil, func(b *rest.Row) {
		b.Gone = true
		for _, h := range s.Rows[StreamHighlights] {
			h.Gone = h.Gone || h.Parent == b
		}
	})}
	return s
}
