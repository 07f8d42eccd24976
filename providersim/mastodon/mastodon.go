// Package mastodon simulates the parts of Mastodon's client API that a person's own posts and lists are read from.
//
// Written from Mastodon's documentation (repository of the documentation, revision 2903485d of 2026-07-02): the methods
// of accounts, bookmarks and favourites, the entities Status and Account, "Rate limits" and "Paginating through API
// responses".
//
//   - Lists are arrays, newest first. The Link header has the next page; the positions in bookmarks, favourites and
//     followers are internal numbers that no answer contains.
//   - 20 posts in a page unless limit asks for more, 40 at most; 40 and 80 for accounts.
//   - 300 requests in five minutes, with X-RateLimit headers and a reset in ISO form; 429 has no Retry-After.
//   - Errors have the member error. A missing scope is 403.
//
// Not in the documentation, and chosen here: a page may have fewer posts than it counts ([Config.Hidden]), as posts
// that the person may no longer see are left out.
package mastodon

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamStatuses   = "statuses"
	StreamBookmarks  = "bookmarks"
	StreamFavourites = "favourites"
	StreamFollowing  = "following"
	StreamFollowers  = "followers"
)

// ScopeRead is the scope of a token that may read everything.
const ScopeRead = "read"

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed                   uint64
	Statuses, Marks, Links int // own posts; bookmarks and favourites each; followers and followed accounts each
	MaxPage                int // largest page
	Hidden                 int // hides every n-th bookmark, which its page still counts; zero hides none
	Rate                   int // requests in five minutes (300)
	Token                  string
	Now                    func() time.Time // nil means the wall clock
}

const (
	own       = "14715"
	timestamp = "2006-01-02T15:04:05.000Z"
)

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	var s *rest.Service
	window := &rest.FixedWindow{Rate: cmp.Or(cfg.Rate, 300), Window: 5 * time.Minute,
		Reset: func(end time.Time) string { return end.UTC().Format("2006-01-02T15:04:05.000000Z") }}
	s = rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Scopes: []string{ScopeRead}, Now: cfg.Now,
		Clock: time.Date(2024, 2, 3, 9, 0, 0, 0, time.UTC), Tick: time.Minute, Errors: renderError,
		Quota: func(h http.Header) bool { return window.Spend(s.Now(), h) }})
	account := func(n int) rest.Object {
		name := fmt.Sprint("person", n)
		return rest.Object{"id": fmt.Sprint(90_000 + n), "username": name, "acct": name + "@social.example", "bot": n%5 == 4,
			"url": "https://social.example/@" + name, "uri": "https://social.example/users/" + name, "group": false,
			"display_name": "Persön " + fmt.Sprint(n), "note": "<p>Hello</p>", "avatar": "https://social.example/a.png",
			"locked": false, "fields": []rest.Object{}, "created_at": "2022-11-01T00:00:00.000Z", "statuses_count": n,
			"followers_count": n, "following_count": n, "last_status_at": "2026-01-02"}
	}
	post := func(author rest.Object) func(row *rest.Row) {
		return func(row *rest.Row) {
			at, id := s.Advance(3*time.Hour), fmt.Sprint(108_880_211_901_672_000+s.NextID())
			row.At, row.Data = at, rest.Object{"id": id, "uri": "https://social.example/s/" + id, "account": author,
				"url": "https://social.example/@x/" + id, "created_at": at.Format(timestamp), "edited_at": nil,
				"content": fmt.Sprintf("<p>Grüße &amp; 雨 %d</p>", row.N), "visibility": "public", "sensitive": false,
				"spoiler_text": "", "media_attachments": []rest.Object{}, "mentions": []rest.Object{}, "tags": []rest.Object{},
				"emojis": []rest.Object{}, "reblogs_count": row.N, "favourites_count": 0, "replies_count": 0, "language": "de",
				"in_reply_to_id": nil, "in_reply_to_account_id": nil, "reblog": nil, "poll": nil, "card": nil, "quote": nil}
			switch row.N % 4 {
			case 1:
				row.Data["media_attachments"] = []rest.Object{{"id": "22", "type": "image", "url": "https://files.example/1.png",
					"description": "A tree"}}
				row.Data["tags"] = []rest.Object{{"name": "trees", "url": "https://social.example/tags/trees"}}
				row.Data["spoiler_text"], row.Data["sensitive"], row.Data["visibility"] = "Trees", true, "private"
			case 2:
				row.Data["in_reply_to_id"], row.Data["in_reply_to_account_id"] = "108880209317577809", "90001"
				row.Data["mentions"] = []rest.Object{{"id": "90001", "username": "person1", "acct": "person1@social.example",
					"url": "https://social.example/@person1"}}
				row.Data["card"] = rest.Object{"url": "https://example.org/a", "title": "An article", "type": "link"}
			case 3:
				row.Data["content"] = ""
				row.Data["reblog"] = rest.Object{"id": "108", "url": "https://social.example/@person2/108",
					"content": "<p>Theirs</p>", "account": account(2)}
				row.Data["poll"] = rest.Object{"id": "34", "options": []rest.Object{{"title": "Yes", "votes_count": 3}}}
			}
		}
	}
	list := func(stream, path string, usual, most, count int, create, edit func(*rest.Row)) {
		s.Open(&rest.Collection{Stream: stream, Count: count, New: create, Edit: edit})
		pager := rest.Pager{Style: rest.Token, Place: "max_id", Size: "limit", Usual: usual, Most: most, Cap: cfg.MaxPage,
			Address: true}
		s.Handle("GET /api/v1/"+path, ScopeRead, func(r *http.Request) rest.Answer {
			page, refusal := rest.Cut(s, r, pager, rest.List[*rest.Row]{All: rest.SortByTime(s.Live(stream), false),
				Show: func(row *rest.Row) rest.Object { return row.Data }, Hidden: func(row *rest.Row) bool { return row.Ghost }})
			if refusal.Status != 0 {
				return refusal
			}
			answer := rest.Answer{Status: http.StatusOK, Body: page.Rows, Header: http.Header{}}
			if page.More {
				answer.Header.Set("Link", fmt.Sprintf(`<%s>; rel="next", <%s>; rel="prev"`, page.Next, page.Own))
			}
			return answer
		})
	}
	edit := func(row *rest.Row) {
		row.Data["content"], row.Data["edited_at"] = "<p>Edited</p>", s.Advance(time.Minute).Format(timestamp)
	}
	me := account(1)
	me["id"], me["acct"] = own, "ottilie"
	list(StreamStatuses, "accounts/"+own+"/statuses", 20, 40, cfg.Statuses, post(me), edit)
	list(StreamBookmarks, "bookmarks", 20, 40, cfg.Marks, func(row *rest.Row) {
		post(account(3))(row)
		row.Ghost = cfg.Hidden > 0 && row.N%cfg.Hidden == cfg.Hidden-1
	}, edit)
	list(StreamFavourites, "favourites", 20, 40, cfg.Marks, post(account(4)), edit)
	person := func(row *rest.Row) { row.At, row.Data = s.Advance(time.Hour), account(row.N) }
	rename := func(row *rest.Row) { row.Data["display_name"] = "Another name" }
	list(StreamFollowing, "accounts/"+own+"/following", 40, 80, cfg.Links, person, rename)
	list(StreamFollowers, "accounts/"+own+"/followers", 40, 80, cfg.Links, person, rename)
	s.Handle("GET /api/v1/accounts/verify_credentials", ScopeRead, func(*http.Request) rest.Answer { return rest.OK(me) })
	return s
}

func renderError(f rest.Refusal) rest.Answer {
	text := map[rest.Problem]string{rest.NoScope: "This action is outside the authorized scopes",
		rest.RateLimited: "Too many requests", rest.NoRoute: "Record not found"}[f.Problem]
	return rest.Answer{Status: f.Status(), Body: rest.Object{"error": cmp.Or(text, "The access token is invalid")}}
}
