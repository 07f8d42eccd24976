// Package wallabag simulates the parts of Wallabag's API that a person's saved articles are read from.
//
// Written from Wallabag's own source and its documentation in the same repository (August 2026, after 2.6): the
// controllers of entries, tags and users, the serialized members, "OAuth" and "Methods".
//
//   - A sign-in with client, name and password returns a token for an hour. A wrong one is 400, a bad token 401.
//   - A list has 30 articles unless perPage asks for more, the latest first, with page, pages and total. A page after
//     the last one is 404.
//   - detail=metadata leaves the text null. Flags are 0 or 1. Offsets of times have no colon.
//   - since selects articles by their update, which tags and annotations do not change.
package wallabag

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamTags    = "tags"
	StreamEntries = "entries"
)

// Config sets what the simulated server holds.
type Config struct {
	Seed          uint64
	Entries, Tags int
	MaxPage       int    // largest page
	Token         string // the first access token
}

// Sign-in of the account.
const (
	ClientID, ClientSecret = "1_3o53gl30", "client_secret_under_test"
	Username, Password     = "ottilie", "password_under_test"
)

// New returns a server generated from cfg.
func New(cfg Config) *rest.Service {
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Clock: time.Date(2025, 2, 3, 9, 0, 0, 0, time.UTC),
		Tick: time.Minute, Errors: renderError})
	stamp := func(d time.Duration) string { return s.Advance(d).Format(timeLayout) }
	s.HandleOpen("POST /oauth/v2/token", func(r *http.Request) rest.Answer {
		for name, want := range map[string]string{"grant_type": "password", "client_id": ClientID,
			"client_secret": ClientSecret, "username": Username, "password": Password} {
			if r.PostFormValue(name) != want {
				return rest.Answer{Status: http.StatusBadRequest, Body: rest.Object{"error": "invalid_grant",
					"error_description": "Invalid username and password combination"}}
			}
		}
		token, err := s.Tokens.Change(providersim.TokenChange{Action: "rotate"})
		if err != nil {
			return s.Refuse(r, rest.Internal, "")
		}
		return rest.OK(rest.Object{"access_token": token.Token, "expires_in": 3600, "refresh_token": "unused",
			"scope": nil, "token_type": "bearer"})
	})
	s.Handle("GET /api/user.json", "", func(*http.Request) rest.Answer {
		return rest.OK(rest.Object{"id": 12, "username": Username, "name": "Ottilie", "email": "o@example.org",
			"created_at": "2025-01-01T00:00:00+0000", "updated_at": "2025-01-01T00:00:00+0000"})
	})
	tag := func(n int) rest.Object {
		return rest.Object{"id": 40 + n, "label": fmt.Sprint("größe ", n), "slug": fmt.Sprint("groesse-", n)}
	}
	s.Open(&rest.Collection{Stream: StreamTags, Count: cfg.Tags, Route: "GET /api/tags.json",
		New: func(t *rest.Row) { t.Data = tag(t.N) }})
	create := func(e *rest.Row) {
		id, at := 900+s.NextID(), stamp(90*time.Minute)
		address := fmt.Sprint("https://blog.example/", id)
		e.Data = rest.Object{"id": id, "uid": nil, "title": fmt.Sprint("雨 & Pumpen ", id), "url": address,
			"given_url": nil, "origin_url": nil, "hashed_url": "ab", "hashed_given_url": nil, "archived_at": nil,
			"content": fmt.Sprintf("<p>Über <b>%d</b> Brunnen</p>", id), "created_at": at, "updated_at": at,
			"published_at": nil, "published_by": nil, "starred_at": nil, "annotations": []rest.Object{}, "mimetype": "text/html",
			"language": nil, "reading_time": e.N % 9, "domain_name": "blog.example", "preview_picture": nil,
			"http_status": "200", "headers": nil, "is_archived": 0, "is_starred": 0, "is_public": false,
			"tags": []rest.Object{}, "user_name": Username, "user_email": "o@example.org", "user_id": 12,
			"_links": rest.Object{"self": rest.Object{"href": fmt.Sprint("/api/entries/", id)}}}
		if e.N%3 == 1 {
			maps.Copy(e.Data, rest.Object{"is_archived": 1, "archived_at": at, "is_starred": 1, "starred_at": at,
				"published_at": "2024-05-06T07:08:09+0200", "published_by": []string{"Leander"}, "language": "de",
				"given_url": address + "?utm=1", "preview_picture": address + ".png", "tags": []rest.Object{tag(0), tag(1)},
				"annotations": []rest.Object{{"id": 7, "text": "Look — up", "quote": "Brunnen", "ranges": []rest.Object{},
					"created_at": at, "updated_at": at, "user": Username, "annotator_schema_version": "v1.0"}}})
		}
	}
	s.Open(&rest.Collection{Stream: StreamEntries, Count: cfg.Entries, New: create, Show: inUTC,
		Edit: func(e *rest.Row) { e.Data["title"], e.Data["updated_at"] = "Retitled", stamp(time.Minute) }})
	s.Operations = map[string]func() string{"tag_entries": s.EditRow(StreamEntries, nil,
		func(e *rest.Row) { e.Data["tags"] = []rest.Object{tag(1 + e.Version)} })}
	pager := rest.Pager{Style: rest.Number, Place: "page", Size: "perPage", Usual: 30, Cap: cfg.MaxPage,
		Items: "_embedded.items", Total: "total", Extend: func(_ *http.Request, p rest.Page, body rest.Object) {
			body["page"], body["limit"], body["pages"] = p.Number, p.Size, max(1, (p.Total+p.Size-1)/p.Size)
			body["_embedded"] = rest.Object{"items": append([]rest.Object{}, p.Rows...)}
		}}
	s.Handle("GET /api/entries.json", "", func(r *http.Request) rest.Answer {
		q := r.URL.Query()
		since, _ := strconv.ParseInt(q.Get("since"), 10, 64)
		return rest.ListRows(s, r, pager, rest.SortByTime(s.Rows[StreamEntries], q.Get("order") == "asc"),
			func(e *rest.Row) bool {
				at, err := time.Parse(timeLayout, e.Data["updated_at"].(string))
				return err == nil && (since == 0 || at.Unix() > since)
			}, func(e *rest.Row) rest.Object {
				shown := maps.Clone(e.Data)
				if q.Get("detail") == "metadata" {
					shown["content"] = nil
				}
				return shown
			})
	})
	return s
}

// timeLayout is how Wallabag writes times.
const timeLayout = "2006-01-02T15:04:05-0700"

// inUTC returns an article of the ground truth, with its times as records have them.
func inUTC(e *rest.Row) rest.Object {
	truth := maps.Clone(e.Data)
	for name, value := range truth {
		if at, err := time.Parse(timeLayout, fmt.Sprint(value)); err == nil {
			truth[name] = at.UTC().Format(time.RFC3339)
		}
	}
	return truth
}

func renderError(f rest.Refusal) rest.Answer {
	name := "access_denied"
	if f.Problem == rest.ExpiredToken || f.Problem == rest.BadToken {
		name = "invalid_grant"
	}
	return rest.Answer{Status: f.Status(), Body: rest.Object{"error": name, "error_description": fmt.Sprint(f.Problem)}}
}
