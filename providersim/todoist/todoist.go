// Package todoist simulates the parts of Todoist's API v1 that a person's own tasks are read from.
//
// Written from the types, endpoints and request arguments of Doist's own TypeScript SDK (todoist-api-typescript,
// revision e44b543 of 2026-04-18), with names in the form of the wire, which the SDK translates, and its reference
// pages for completed tasks.
//
//   - Lists have pages of 50 unless limit asks for more, 200 at most, with a cursor.
//   - /tasks has active tasks only. Completed ones are listed by the time of their completion, for a span of at most
//     three months that a request must name, in items instead of results.
//   - Archived projects have a list of their own.
//
// Not in these documents, and chosen here: the numbers of the rate limit, which Todoist does not publish; the body of a
// refusal; that both ends of a span are included.
package todoist

import (
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamProjects  = "projects"
	StreamSections  = "sections"
	StreamLabels    = "labels"
	StreamTasks     = "tasks"
	StreamCompleted = "completed_tasks"
)

// Config sets what the simulated account holds.
type Config struct {
	Seed                                 uint64
	Projects, Labels, Tasks, Completions int
	MaxPage                              int // largest page (200)
	Token                                string
	Now                                  time.Time // time of the provider at the start
}

const (
	ownUser   = "2671355"
	timestamp = "2006-01-02T15:04:05.000000Z"
	longest   = 93 * 24 * time.Hour
)

var contents = []string{"Water the plants", "Steuer ½ abgeben", "雨具を買う", "Read <b>&amp;</b>", "Łódź tickets"}

// New returns an account generated from cfg. What is completed was completed in the year before cfg.Now.
func New(cfg Config) *rest.Service {
	began := time.Now()
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token,
		Now:   func() time.Time { return cfg.Now.Add(time.Since(began)) },
		Clock: cfg.Now.AddDate(-1, 0, 0), Tick: time.Second, Errors: renderError})
	stamp := func(d time.Duration) string { return s.Advance(d).Format(timestamp) }
	id := func() string { return fmt.Sprintf("6X4Vw2Hfmg73Q%03d", s.NextID()) }
	pager := rest.Pager{Style: rest.Token, Place: "cursor", Size: "limit", Usual: 50, Most: 200, Exact: true,
		Cap: cfg.MaxPage, Items: "results", Next: "next_cursor"}
	isArchived := func(row *rest.Row) bool { return row.Data["is_archived"] == true }
	active := func(_ *http.Request, row *rest.Row) bool { return !isArchived(row) }
	s.Open(&rest.Collection{Stream: StreamProjects, Count: cfg.Projects, Route: "GET /api/v1/projects", Pager: pager,
		Fits: active, New: func(p *rest.Row) {
			p.Data = rest.Object{"id": id(), "name": contents[p.N%len(contents)], "color": "berry_red", "parent_id": nil,
				"child_order": p.N, "created_at": stamp(time.Hour), "updated_at": nil, "is_archived": p.N%4 == 3,
				"is_deleted": false, "is_favorite": p.N == 1, "is_frozen": false, "is_shared": false, "view_style": "list",
				"description": "", "default_order": 0, "can_assign_tasks": false, "inbox_project": p.N == 0}
		}, Edit: func(p *rest.Row) { p.Data["is_archived"] = !isArchived(p) }})
	s.Handle("GET /api/v1/projects/archived", "", func(r *http.Request) rest.Answer {
		return rest.ListRows(s, r, pager, s.Rows[StreamProjects], isArchived, func(p *rest.Row) rest.Object { return p.Data })
	})
	s.Open(&rest.Collection{Stream: StreamSections, Count: cfg.Projects, Route: "GET /api/v1/sections", Pager: pager,
		New: func(x *rest.Row) {
			x.Data = rest.Object{"id": id(), "user_id": ownUser, "project_id": s.Rows[StreamProjects][0].ID, "name": "Later",
				"added_at": stamp(time.Hour), "updated_at": stamp(0), "archived_at": nil, "section_order": x.N,
				"is_archived": false, "is_deleted": false, "is_collapsed": false}
		}, Edit: func(x *rest.Row) { x.Data["name"] = "Soon" }})
	s.Open(&rest.Collection{Stream: StreamLabels, Count: cfg.Labels, Route: "GET /api/v1/labels", Pager: pager,
		New: func(l *rest.Row) {
			l.Data = rest.Object{"id": id(), "name": fmt.Sprint("label", l.N), "color": "teal", "order": l.N,
				"is_favorite": false}
		}})
	newTask := func(n int) rest.Object {
		o := rest.Object{"id": id(), "user_id": ownUser, "project_id": s.Rows[StreamProjects][n%cfg.Projects].ID,
			"section_id": nil, "parent_id": nil, "added_by_uid": ownUser, "assigned_by_uid": nil, "responsible_uid": nil,
			"labels": []string{}, "deadline": nil, "duration": nil, "checked": false, "is_deleted": false,
			"added_at": stamp(5 * time.Hour), "completed_at": nil, "updated_at": stamp(0), "due": nil, "priority": 1 + n%4,
			"child_order": n, "content": contents[n%len(contents)], "description": "", "day_order": -1, "is_collapsed": false}
		if n%2 == 0 {
			o["labels"], o["description"] = []string{"label0"}, "Every week"
			o["due"] = rest.Object{"date": "2026-07-01", "string": "every week", "lang": "en", "is_recurring": true,
				"timezone": "Europe/Berlin"}
		}
		if n%3 == 0 {
			o["deadline"] = rest.Object{"date": "2026-08-01", "lang": "en"}
			o["duration"] = rest.Object{"amount": 15, "unit": "minute"}
		}
		return o
	}
	s.Open(&rest.Collection{Stream: StreamTasks, Count: cfg.Tasks, Route: "GET /api/v1/tasks", Pager: pager,
		New:  func(x *rest.Row) { x.Data = newTask(x.N) },
		Edit: func(x *rest.Row) { x.Data["content"], x.Data["updated_at"] = "Renamed", stamp(time.Minute) }})
	// complete adds a completion to those that are listed by their time.
	complete := func(row *rest.Row, task rest.Object, at time.Time) string {
		row.At, row.Data = at, rest.Members(task, "id")
		for name, value := range task {
			row.Data[name] = value
		}
		row.Data["checked"], row.Data["completed_at"] = true, at.Format(timestamp)
		row.ID = fmt.Sprintf("%s:%s", task["id"], row.Data["completed_at"])
		return row.ID
	}
	done := &rest.Collection{Stream: StreamCompleted, Count: cfg.Completions, New: func(row *rest.Row) {
		complete(row, newTask(row.N), cfg.Now.AddDate(0, 0, -351+row.N*350/cfg.Completions))
	}}
	s.Open(done)
	byTime := pager
	byTime.Items = "items"
	s.Handle("GET /api/v1/tasks/completed/by_completion_date", "", func(r *http.Request) rest.Answer {
		since, errSince := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
		until, errUntil := time.Parse(time.RFC3339, r.URL.Query().Get("until"))
		if errSince != nil || errUntil != nil || until.Sub(since) > longest {
			return s.Refuse(r, rest.BadParameter, "since")
		}
		return rest.ListRows(s, r, byTime, rest.SortByTime(s.Rows[StreamCompleted], false), func(row *rest.Row) bool {
			return !row.At.Before(since) && !row.At.After(until)
		}, done.Show)
	})
	s.Handle("GET /api/v1/user", "", func(*http.Request) rest.Answer {
		return rest.OK(rest.Object{"id": ownUser, "email": "ottilie@example.org", "full_name": "Ottilie B",
			"joined_at": cfg.Now.AddDate(-1, 0, -3).Format(timestamp), "is_premium": false})
	})
	recent := func(row *rest.Row) bool { return row.At.After(cfg.Now.AddDate(0, 0, -10)) }
	s.Operations = map[string]func() string{
		"complete": s.EditRow(StreamTasks, nil, func(task *rest.Row) {
			row := &rest.Row{}
			complete(row, task.Data, cfg.Now.Add(-time.Hour))
			s.Add(StreamCompleted, row)
			task.Gone = true
		}),
		"reopen": s.EditRow(StreamCompleted, recent, func(row *rest.Row) {
			row.Gone = true
			for _, task := range s.Rows[StreamTasks] {
				task.Gone = task.Gone && task.Data["id"] != row.Data["id"]
			}
		}),
	}
	return s
}

func renderError(f rest.Refusal) rest.Answer {
	return rest.Answer{Status: f.Status(), Body: rest.Object{"error": fmt.Sprint(f.Problem), "http_code": f.Status()}}
}
