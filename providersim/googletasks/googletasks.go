// Package googletasks simulates the parts of the Google Tasks API v1 that a person's own tasks are read from.
//
// Written from Google's REST reference of the Tasks API v1 (tasklists.list, tasks.list and the resource Task, with
// assignments, as published in 2026) and the client libraries generated from its discovery document.
//
//   - Lists of lists have pages of 1,000 and tasks of 20 unless maxResults asks for more, 100 at most.
//   - Hidden and assigned tasks come only if asked for. A task that was completed in Google's own apps is hidden.
//   - due has no time of the day. An answer without tasks has no items.
//   - Errors have code, message and errors with a reason.
//
// Not in the reference, and chosen here: a token of another query is refused with 400.
package googletasks

import (
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamLists = "lists"
	StreamTasks = "tasks"
)

// Scope is the scope of a token that may read tasks.
const Scope = "https://www.googleapis.com/auth/tasks.readonly"

// Config sets what the simulated account holds.
type Config struct {
	Seed         uint64
	Lists, Tasks int
	MaxPage      int // largest page
	Token        string
}

const timestamp = "2006-01-02T15:04:05.000Z"

var titles = []string{"Call the bank", "Äpfel & Birnen", "雨どい", "<i>Draft</i>"}

// New returns an account generated from cfg. Task n is in list n modulo the number of lists; the last list is empty.
func New(cfg Config) *rest.Service {
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Scopes: []string{Scope}, Errors: renderError,
		Clock: time.Date(2025, 2, 3, 9, 0, 0, 0, time.UTC), Tick: time.Minute})
	stamp := func(d time.Duration) string { return s.Advance(d).Format(timestamp) }
	pager := func(kind string, usual, most int) rest.Pager {
		return rest.Pager{Style: rest.Token, Place: "pageToken", Size: "maxResults", Usual: usual, Most: most,
			Cap: cfg.MaxPage, Items: "items", Next: "nextPageToken", Omit: true,
			Extend: func(_ *http.Request, page rest.Page, body rest.Object) {
				body["kind"], body["etag"] = kind, `"LTI2Nzg3"`
				if len(page.Rows) == 0 {
					delete(body, "items")
				}
			}}
	}
	s.Open(&rest.Collection{Stream: StreamLists, Count: cfg.Lists, Route: "GET /tasks/v1/users/@me/lists", Scope: Scope,
		Pager: pager("tasks#taskLists", 1000, 1000),
		New: func(l *rest.Row) {
			id := fmt.Sprintf("MDQ0NTEzNDI1%03d", s.NextID())
			l.Data = rest.Object{"kind": "tasks#taskList", "id": id, "etag": `"x"`, "title": titles[l.N%len(titles)],
				"updated": stamp(time.Hour), "selfLink": "https://www.googleapis.com/tasks/v1/users/@me/lists/" + id}
		},
		Edit: func(l *rest.Row) { l.Data["title"], l.Data["updated"] = "Renamed", stamp(time.Minute) }})
	tasks := &rest.Collection{Stream: StreamTasks, Count: cfg.Tasks, New: func(x *rest.Row) {
		lists := s.Live(StreamLists)
		x.Parent = lists[x.N%max(1, len(lists)-1)]
		id := fmt.Sprintf("dWFLdGxQ%03d", s.NextID())
		x.Data = rest.Object{"kind": "tasks#task", "id": id, "etag": `"y"`, "title": titles[x.N%len(titles)],
			"updated": stamp(time.Hour), "selfLink": "https://www.googleapis.com/tasks/v1/" + id, "status": "needsAction",
			"position": fmt.Sprintf("%020d", x.N), "links": []rest.Object{},
			"webViewLink": "https://tasks.google.com/task/" + id}
		switch x.N % 4 {
		case 1:
			x.Data["notes"], x.Data["due"] = "With the form", "2026-03-05T00:00:00.000Z"
			x.Data["links"] = []rest.Object{{"type": "email", "description": "Mail", "link": "https://mail.google.com/m"}}
		case 2:
			x.Data["status"], x.Data["hidden"], x.Data["completed"] = "completed", true, stamp(0)
		case 3:
			x.Data["assignmentInfo"] = rest.Object{"surfaceType": "DOCUMENT", "linkToTask": "https://docs.google.com/d/1"}
		}
	}, Edit: func(x *rest.Row) {
		x.Data["status"], x.Data["completed"], x.Data["updated"] = "completed", stamp(time.Minute), stamp(0)
		x.Data["hidden"] = true
	}, Show: func(x *rest.Row) rest.Object { // the ground truth has the list, which is in the address of an answer
		o := maps.Clone(x.Data)
		o["list_id"] = x.Parent.ID
		return o
	}}
	s.Open(tasks)
	page := pager("tasks#tasks", 20, 100)
	s.Handle("GET /tasks/v1/lists/{list}/tasks", Scope, func(r *http.Request) rest.Answer {
		q, list := r.URL.Query(), s.Find(StreamLists, r.PathValue("list"))
		if list == nil {
			return s.Refuse(r, rest.NotFound, "")
		}
		return rest.ListRows(s, r, page, s.Rows[StreamTasks], func(x *rest.Row) bool {
			return x.Parent == list && (x.Data["hidden"] == nil || q.Get("showHidden") == "true") &&
				(x.Data["status"] != "completed" || q.Get("showCompleted") != "false") &&
				(x.Data["assignmentInfo"] == nil || q.Get("showAssigned") == "true")
		}, func(x *rest.Row) rest.Object { return x.Data })
	})
	s.Operations = map[string]func() string{
		// A list is deleted with its tasks.
		"drop_list": s.EditRow(StreamLists, nil, func(l *rest.Row) {
			l.Gone = true
			for _, x := range s.Rows[StreamTasks] {
				x.Gone = x.Gone || x.Parent == l
			}
		}),
		"move": s.EditRow(StreamTasks, nil, func(x *rest.Row) { x.Parent = rest.Pick(s, s.Live(StreamLists), nil) }),
	}
	return s
}

func renderError(f rest.Refusal) rest.Answer {
	reason := map[rest.Problem]string{rest.RateLimited: "rateLimitExceeded", rest.NoScope: "insufficientPermissions",
		rest.NotFound: "notFound", rest.NoRoute: "notFound", rest.BadParameter: "invalid", rest.Internal: "backendError",
		rest.Unavailable: "backendError"}[f.Problem]
	if reason == "" {
		reason = "authError"
	}
	return rest.Answer{Status: f.Status(), Body: rest.Object{"error": rest.Object{"code": f.Status(), "message": reason,
		"errors": []rest.Object{{"domain": "global", "reason": reason, "message": reason}}}}}
}
