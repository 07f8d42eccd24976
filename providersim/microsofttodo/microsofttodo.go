// Package microsofttodo simulates the parts of Microsoft Graph v1.0 that a person's own tasks are read from.
//
// Written from Microsoft's reference of Graph v1.0 (repository microsoftgraph/microsoft-graph-docs-contrib: todoTask,
// todoTaskList, checklistItem, linkedResource, "List lists", "List tasks", read in November 2026).
//
//   - Lists are in value; @odata.nextLink has the whole address of the next page.
//   - Without $top the first 16 elements come, and no next page: an issue of that repository describes it.
//   - checklistItems come only if $expand asks for them. A task that is moved to another list gets another id.
//   - Errors have a code and a message.
//
// Not in the reference, and chosen here: how $expand treats linkedResources; which members a task without them lacks.
package microsofttodo

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
	StreamLists = "lists"
	StreamTasks = "tasks"
)

// Scope is the scope of a token that may read tasks.
const Scope = "Tasks.Read"

// Config sets what the simulated account holds.
type Config struct {
	Seed         uint64
	Lists, Tasks int
	MaxPage      int // largest page
	Token        string
}

// New returns an account generated from cfg. Task n is in list n modulo the number of lists; the last list is empty.
func New(cfg Config) *rest.Service {
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Scopes: []string{Scope}, Errors: renderError,
		Clock: time.Date(2025, 2, 3, 9, 0, 0, 0, time.UTC), Tick: time.Minute})
	stamp := func(d time.Duration) string { return s.Advance(d).Format("2006-01-02T15:04:05.0000000Z") }
	zoned := func(day string) rest.Object {
		return rest.Object{"dateTime": day + "T00:00:00.0000000", "timeZone": "UTC"}
	}
	pager := rest.Pager{Style: rest.Offset, Place: "$skip", Size: "$top", Usual: 16, Most: 100, Cap: cfg.MaxPage,
		Items: "value", Address: true, Extend: func(r *http.Request, page rest.Page, body rest.Object) {
			body["@odata.context"] = "https://graph.microsoft.com/v1.0/$metadata#todo"
			if page.More && r.URL.Query().Has("$top") {
				body["@odata.nextLink"] = page.Next
			}
		}}
	s.Open(&rest.Collection{Stream: StreamLists, Count: cfg.Lists, Route: "GET /v1.0/me/todo/lists", Scope: Scope,
		Pager: pager, New: func(l *rest.Row) {
			l.Data = rest.Object{"id": fmt.Sprintf("AAMkADIy%04d=", s.NextID()), "displayName": fmt.Sprint("Küche ", l.N),
				"isOwner": true, "isShared": l.N%3 == 2, "wellknownListName": "none", "@odata.etag": `W/"x"`}
			if l.N == 0 {
				l.Data["displayName"], l.Data["wellknownListName"] = "Tasks", "defaultList"
			}
		}, Edit: func(l *rest.Row) { l.Data["displayName"] = "Renamed" }})
	s.Open(&rest.Collection{Stream: StreamTasks, Count: cfg.Tasks, New: func(x *rest.Row) {
		lists := s.Live(StreamLists)
		x.Parent = lists[x.N%max(1, len(lists)-1)]
		at := stamp(time.Hour)
		x.Data = rest.Object{"@odata.etag": `W/"y"`, "id": fmt.Sprintf("AQMkADAw%04d", s.NextID()), "title": "Äpfel & 雨",
			"importance": "normal", "isReminderOn": false, "status": "notStarted", "createdDateTime": at,
			"lastModifiedDateTime": at, "hasAttachments": false, "categories": []string{},
			"body":           rest.Object{"content": "", "contentType": "text"},
			"checklistItems": []rest.Object{}, "linkedResources": []rest.Object{}}
		switch x.N % 4 {
		case 1:
			x.Data["body"] = rest.Object{"content": "With the <form>", "contentType": "text"}
			x.Data["bodyLastModifiedDateTime"], x.Data["categories"] = at, []string{"Important"}
			x.Data["dueDateTime"], x.Data["startDateTime"] = zoned("2026-03-05"), zoned("2026-03-01")
			x.Data["linkedResources"] = []rest.Object{{"id": rest.UUID(x.N), "applicationName": "Outlook",
				"displayName": "Mail", "externalId": "m1", "webUrl": "https://outlook.example/m1"}}
		case 2:
			x.Data["status"], x.Data["completedDateTime"] = "completed", zoned("2026-02-04")
			x.Data["checklistItems"] = []rest.Object{{"id": rest.UUID(x.N), "displayName": "Wash", "createdDateTime": at,
				"isChecked": true, "checkedDateTime": at}}
		case 3:
			x.Data["isReminderOn"], x.Data["reminderDateTime"] = true, zoned("2026-03-04")
			x.Data["recurrence"] = rest.Object{"pattern": rest.Object{"type": "daily", "interval": 1},
				"range": rest.Object{"type": "noEnd", "startDate": "2026-03-04"}}
		}
	}, Edit: func(x *rest.Row) {
		x.Data["status"], x.Data["completedDateTime"] = "completed", zoned("2026-02-05")
		x.Data["lastModifiedDateTime"] = stamp(time.Minute)
	}, Show: func(x *rest.Row) rest.Object { // the ground truth has the list, which is in the address of an answer
		o := maps.Clone(x.Data)
		o["list_id"], o["created_at"] = x.Parent.ID, x.Data["createdDateTime"]
		return o
	}})
	s.Handle("GET /v1.0/me/todo/lists/{list}/tasks", Scope, func(r *http.Request) rest.Answer {
		list := s.Find(StreamLists, r.PathValue("list"))
		if list == nil {
			return s.Refuse(r, rest.NotFound, "")
		}
		return rest.ListRows(s, r, pager, s.Rows[StreamTasks], func(x *rest.Row) bool { return x.Parent == list },
			func(x *rest.Row) rest.Object {
				o := maps.Clone(x.Data)
				for _, name := range []string{"checklistItems", "linkedResources"} {
					if !strings.Contains(r.URL.Query().Get("$expand"), name) {
						delete(o, name)
					}
				}
				return o
			})
	})
	s.Operations = map[string]func() string{
		// A list is deleted with its tasks.
		"drop_list": s.EditRow(StreamLists, nil, func(l *rest.Row) {
			l.Gone = true
			for _, x := range s.Rows[StreamTasks] {
				x.Gone = x.Gone || x.Parent == l
			}
		}),
	}
	return s
}

func renderError(f rest.Refusal) rest.Answer {
	code := map[rest.Problem]string{rest.RateLimited: "TooManyRequests", rest.NoScope: "ErrorAccessDenied",
		rest.NotFound: "ErrorItemNotFound", rest.BadToken: "InvalidAuthenticationToken"}[f.Problem]
	if code == "" {
		code = fmt.Sprint(f.Problem)
	}
	return rest.Answer{Status: f.Status(), Body: rest.Object{"error": rest.Object{"code": code, "message": code}}}
}
