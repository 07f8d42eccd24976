// Package gitlab simulates the parts of GitLab's REST API v4 that a person's own work is read from.
//
// Written from GitLab's documentation (repository of GitLab, pages "Merge requests API", "Snippets API", read in
// November 2026; "Issues API", "Projects API", "Pagination" and "Rate limits" from memory of the same pages).
//
//   - Lists are arrays of 20 elements unless per_page asks for more, 100 at most. The Link header has the next page,
//     by page number or, for projects with pagination=keyset, by the last id.
//   - The scope of issues and merge requests selects those that the person created or is assigned to.
//   - Requests in a minute are limited, with RateLimit headers; 429 has a Retry-After.
//   - Errors have the member message. A missing scope is 403 with the error insufficient_scope.
package gitlab

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamProjects      = "projects"
	StreamStarred       = "starred_projects"
	StreamIssues        = "issues"
	StreamAssigned      = "assigned_issues"
	StreamMergeRequests = "merge_requests"
	StreamSnippets      = "snippets"
)

// ScopeRead is the scope of a token that may read everything.
const ScopeRead = "read_api"

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed                    uint64
	Projects, Work, Snippet int // projects and stars each; issues, assigned issues and merge requests each; snippets
	MaxPage                 int // largest page
	Rate                    int // requests in a minute (2,000)
	Token                   string
}

const own = 4711

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Scopes: []string{ScopeRead},
		Clock: time.Date(2024, 2, 3, 9, 0, 0, 0, time.UTC), Tick: time.Minute, Errors: renderError,
		Limit: rest.Limit{Rate: cmp.Or(cfg.Rate, 2000), Window: time.Minute, Announce: true}})
	stamp := func(d time.Duration) string { return s.Advance(d).Format("2006-01-02T15:04:05.000Z") }
	person := func(name string) rest.Object {
		return rest.Object{"id": own + len(name), "name": name, "username": name, "state": "active", "avatar_url": nil,
			"web_url": "https://gitlab.example/" + name}
	}
	project := func(p *rest.Row) {
		id := 300 + s.NextID()
		path := fmt.Sprint("tools/seed-", id)
		p.Data = rest.Object{"id": id, "name": "Säge " + fmt.Sprint(id), "path_with_namespace": path, "description": nil,
			"visibility": "private", "default_branch": "main", "web_url": "https://gitlab.example/" + path,
			"http_url_to_repo": "https://gitlab.example/" + path + ".git", "archived": p.N%4 == 3, "topics": []string{},
			"namespace": rest.Object{"id": 9, "kind": "group", "full_path": "tools"}, "star_count": p.N, "forks_count": 0,
			"created_at": stamp(time.Hour), "last_activity_at": stamp(0)}
		if p.N%2 == 1 {
			p.Data["description"], p.Data["topics"] = "<b>For</b> gardens & 雨", []string{"garden", "water"}
			p.Data["forked_from_project"] = rest.Object{"id": 2, "path_with_namespace": "upstream/seed"}
		}
	}
	work := func(kind, mark string, more func(w *rest.Row, at string)) func(w *rest.Row) {
		return func(w *rest.Row) {
			id := 80_000 + s.NextID()
			at := stamp(3 * time.Hour)
			w.Data = rest.Object{"id": id, "iid": w.N + 1, "project_id": 301, "title": fmt.Sprint("Fix the pump ", w.N),
				"description": nil, "state": "opened", "created_at": at, "updated_at": at, "closed_at": nil,
				"author": person("ottilie"), "assignees": []rest.Object{}, "labels": []string{}, "milestone": nil,
				"user_notes_count": w.N, "upvotes": 0, "web_url": fmt.Sprintf("https://gitlab.example/tools/seed/-/%s/%d", kind,
					w.N),
				"references": rest.Object{"short": fmt.Sprint(mark, w.N), "full": fmt.Sprint("tools/seed", mark, w.N)},
				"time_stats": rest.Object{"time_estimate": 0, "total_time_spent": 0}}
			if w.N%3 == 1 {
				w.Data["state"], w.Data["closed_at"], w.Data["description"] = "closed", stamp(time.Minute), "It drips — ständig"
				w.Data["assignees"], w.Data["labels"] = []rest.Object{person("leander")}, []string{"bug", "a,b"}
				w.Data["milestone"] = rest.Object{"id": 5, "title": "Spring"}
				w.Data["time_stats"] = rest.Object{"time_estimate": 3600, "total_time_spent": 5400}
			}
			more(w, at)
		}
	}
	issue := work("issues", "#", func(w *rest.Row, _ string) {
		w.Data["due_date"], w.Data["issue_type"], w.Data["confidential"] = nil, "issue", w.N%5 == 0
		if w.N%3 == 2 {
			w.Data["due_date"] = "2024-05-06"
		}
	})
	merge := work("merge_requests", "!", func(w *rest.Row, at string) {
		w.Data["merged_at"], w.Data["merge_user"], w.Data["draft"], w.Data["reviewers"] = nil, nil, true, []rest.Object{}
		w.Data["source_branch"], w.Data["target_branch"], w.Data["source_project_id"] = "pump", "main", 301
		w.Data["sha"], w.Data["merge_commit_sha"] = "8888888888888888888888888888888888888888", nil
		if w.N%3 == 2 {
			w.Data["state"], w.Data["merged_at"], w.Data["merge_user"] = "merged", at, person("leander")
			w.Data["reviewers"], w.Data["draft"] = []rest.Object{person("leander")}, false
			w.Data["merge_commit_sha"] = "9999999999999999999999999999999999999999"
		}
	})
	edit := func(w *rest.Row) { w.Data["title"], w.Data["updated_at"] = "Replace the pump", stamp(time.Minute) }
	rename := func(p *rest.Row) { p.Data["description"] = "Renamed" }
	open := func(stream string, count int, create, edit func(*rest.Row)) {
		s.Open(&rest.Collection{Stream: stream, Count: count, New: create, Edit: edit})
	}
	open(StreamProjects, cfg.Projects, project, rename)
	open(StreamStarred, cfg.Projects, project, rename)
	open(StreamIssues, cfg.Work, issue, edit)
	open(StreamAssigned, cfg.Work, issue, edit)
	open(StreamMergeRequests, cfg.Work, merge, edit)
	open(StreamSnippets, cfg.Snippet, func(n *rest.Row) {
		id := 40 + s.NextID()
		at := stamp(time.Hour)
		n.Data = rest.Object{"id": id, "title": fmt.Sprint("Note ", n.N), "file_name": "note.md", "description": nil,
			"visibility": "private", "author": person("ottilie"), "created_at": at, "updated_at": at, "project_id": nil,
			"web_url": fmt.Sprint("https://gitlab.example/-/snippets/", id), "imported": false, "imported_from": "none",
			"raw_url": fmt.Sprintf("https://gitlab.example/-/snippets/%d/raw", id)}
		if n.N%2 == 1 {
			n.Data["description"], n.Data["project_id"] = "How to prune", 301
		}
	}, edit)
	list := func(path string, place string, stream func(r *http.Request) string) {
		pager := rest.Pager{Style: rest.Token, Place: place, Size: "per_page", Usual: 20, Most: 100, Cap: cfg.MaxPage,
			Address: true}
		s.Handle("GET /api/v4/"+path, ScopeRead, func(r *http.Request) rest.Answer {
			page, refusal := rest.Cut(s, r, pager, rest.List[*rest.Row]{All: s.Live(stream(r)),
				Show: func(row *rest.Row) rest.Object { return row.Data }})
			if refusal.Status != 0 {
				return refusal
			}
			answer := rest.Answer{Status: http.StatusOK, Body: page.Rows, Header: http.Header{}}
			if page.More {
				answer.Header.Set("Link", fmt.Sprintf(`<%s>; rel="next", <%s>; rel="first"`, page.Next, page.Own))
			}
			return answer
		})
	}
	always := func(stream string) func(*http.Request) string { return func(*http.Request) string { return stream } }
	list("projects", "id_after", always(StreamProjects))
	list(fmt.Sprintf("users/%d/starred_projects", own), "page", always(StreamStarred))
	list("issues", "page", func(r *http.Request) string {
		if r.URL.Query().Get("scope") == "assigned_to_me" {
			return StreamAssigned
		}
		return StreamIssues
	})
	list("merge_requests", "page", always(StreamMergeRequests))
	list("snippets", "page", always(StreamSnippets))
	s.Handle("GET /api/v4/user", ScopeRead, func(*http.Request) rest.Answer {
		return rest.OK(rest.Object{"id": own, "username": "ottilie", "name": "Ottilie", "state": "active"})
	})
	return s
}

func renderError(f rest.Refusal) rest.Answer {
	if f.Problem == rest.NoScope {
		return rest.Answer{Status: f.Status(), Body: rest.Object{"error": "insufficient_scope", "scope": ScopeRead}}
	}
	return rest.Answer{Status: f.Status(), Body: rest.Object{"message": fmt.Sprint(f.Status(), " ", f.Problem)}}
}
