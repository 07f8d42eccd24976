// Package linear simulates the parts of Linear's GraphQL API that a person's own work is read from.
//
// Written from the schema in Linear's SDK (repository linear/linear, packages/sdk/src/schema.graphql and error.ts,
// 2026-07-22) and from the pages "Rate limiting" and "Getting started" of its documentation, in excerpts.
//
//   - One address serves every query by POST. The key is the whole Authorization header.
//   - Connections have pages of 50 nodes unless first asks for more, with cursors. Archived ones need includeArchived.
//   - Refusals have errors with a type and a code. A limit is 400 with the code RATELIMITED.
//   - Requests and complexity in an hour are limited; the headers have both, with resets in milliseconds.
//
// Not in the documentation, and chosen here: the largest first (250); a missing permission is 200 with errors and no
// data, a bad key is 401; the complexity of every query is 800; the order of nodes; that the quota is full
// again after an hour.
package linear

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamProfile  = "profile"
	StreamProjects = "projects"
	StreamComments = "comments"
	StreamIssues   = "issues"
	StreamAssigned = "assigned_issues"
)

// ScopeRead is the permission of a key that may read.
const ScopeRead = "read"

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed                      uint64
	Projects, Comments, Issue int // Issue counts created and assigned issues each
	MaxPage                   int // largest page
	Rate                      int // requests in an hour (2,500)
	Token                     string
}

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	var s *rest.Service
	viewer := rest.Object{"id": rest.UUID(1), "name": "Ottilie Ångström", "displayName": "ottilie",
		"timezone": "Europe/Wien", "email": "ottilie@example.org", "url": "https://linear.app/garden/profiles/ottilie",
		"createdAt": "2023-01-02T03:04:05.678Z"}
	rate := cmp.Or(cfg.Rate, 2500)
	used, spent := 0, 0
	s = rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Scopes: []string{ScopeRead},
		Credential: rest.HeaderKey("Authorization"), Clock: time.Date(2024, 2, 3, 9, 0, 0, 0, time.UTC), Tick: time.Minute,
		Errors: renderError, Truth: func(add rest.AddTruth) { add(StreamProfile, rest.UUID(1), viewer, false) },
		Quota: func(h http.Header) bool {
			left, reset := max(0, rate-used), s.Now().Add(time.Hour)
			if used++; spent > 0 {
				spent, left, reset = spent-1, 0, s.Now().Add(time.Second)
			}
			for name, unit := range map[string]int{"Requests": 1, "Complexity": 800} {
				h.Set("X-RateLimit-"+name+"-Limit", fmt.Sprint(rate*unit))
				h.Set("X-RateLimit-"+name+"-Remaining", fmt.Sprint(left*unit))
				h.Set("X-RateLimit-"+name+"-Reset", fmt.Sprint(reset.UnixMilli()))
			}
			h.Set("X-Complexity", "800")
			return left > 0
		}})
	stamp := func(d time.Duration) string { return s.Advance(d).Format("2006-01-02T15:04:05.000Z") }
	person := func(name string) rest.Object { return rest.Object{"id": rest.UUID(len(name)), "name": name} }
	nodes := func(name string, values ...string) rest.Object {
		all := []rest.Object{}
		for _, v := range values {
			all = append(all, rest.Object{name: v})
		}
		return rest.Object{"nodes": all}
	}
	work := func(row *rest.Row, more rest.Object) {
		at := stamp(time.Hour)
		row.Data = rest.Object{"id": rest.UUID(100 + s.NextID()), "priorityLabel": "No priority", "createdAt": at,
			"updatedAt": at, "startedAt": nil, "completedAt": nil, "canceledAt": nil, "archivedAt": nil, "trashed": nil,
			"creator": person("Ottilie"), "description": ""}
		maps.Copy(row.Data, more)
		if row.N%3 == 1 {
			row.Data["archivedAt"], row.Data["completedAt"] = stamp(time.Minute), at
			row.Data["description"], row.Data["priorityLabel"] = "It **drips** {ständig} \"雨\"", "Urgent"
		}
	}
	issue := func(row *rest.Row) {
		key := fmt.Sprint("GAR-", row.N)
		work(row, rest.Object{"identifier": key, "title": fmt.Sprint("Fix the pump ", row.N), "estimate": nil, "dueDate": nil,
			"url": "https://linear.app/garden/issue/" + key, "branchName": "ottilie/" + strings.ToLower(key), "parent": nil,
			"state": rest.Object{"name": "In Progress", "type": "started"}, "team": rest.Object{"key": "GAR"}, "project": nil,
			"cycle": nil, "assignee": nil, "labels": nodes("name")})
		if row.N%3 == 1 {
			row.Data["labels"], row.Data["estimate"] = nodes("name", "bug", "a,b"), 2.5
			row.Data["dueDate"], row.Data["cycle"] = "2024-05-06", rest.Object{"number": 7}
			row.Data["parent"], row.Data["assignee"] = rest.Object{"identifier": "GAR-0"}, person("Leander")
			row.Data["project"] = rest.Object{"id": rest.UUID(9), "name": "Spring"}
		}
	}
	project := func(row *rest.Row) {
		work(row, rest.Object{"name": fmt.Sprint("Spring ", row.N), "content": nil, "health": nil, "lead": person("Ottilie"),
			"url": fmt.Sprint("https://linear.app/garden/project/spring-", row.N), "startDate": "2024-03-01",
			"targetDate": nil, "status": rest.Object{"name": "Planned"}, "teams": nodes("key", "GAR")})
	}
	comment := func(row *rest.Row) {
		id := s.NextID()
		row.Data = rest.Object{"id": rest.UUID(100 + id), "body": fmt.Sprint("Sehe ich auch so ", row.N), "quotedText": nil,
			"url": fmt.Sprint("https://linear.app/garden/issue/GAR-1#comment-", id), "createdAt": stamp(time.Hour),
			"editedAt": nil, "resolvedAt": nil, "parentId": nil, "projectId": nil, "projectUpdateId": nil,
			"user": person("Ottilie"), "issue": rest.Object{"id": rest.UUID(4), "identifier": "GAR-1", "title": "Fix the pump"}}
		if row.N%3 == 1 {
			row.Data["issue"], row.Data["projectId"], row.Data["editedAt"] = nil, rest.UUID(9), stamp(time.Minute)
		}
	}
	edit := func(member string) func(*rest.Row) {
		return func(row *rest.Row) { row.Data[member], row.Data["updatedAt"] = "Changed", stamp(time.Minute) }
	}
	open := func(stream string, count int, create func(*rest.Row), edited string) {
		s.Open(&rest.Collection{Stream: stream, Count: count, New: create, Edit: edit(edited),
			Show: func(row *rest.Row) rest.Object { // of the ground truth
				out := maps.Clone(row.Data)
				out["created_at"] = out["createdAt"]
				return out
			}})
	}
	open(StreamProjects, cfg.Projects, project, "name")
	open(StreamComments, cfg.Comments, comment, "body")
	open(StreamIssues, cfg.Issue, issue, "title")
	open(StreamAssigned, cfg.Issue, issue, "title")
	// Another client of the person uses up the quota for the next requests.
	s.Settings = map[string]func(int){"spend": func(n int) { spent = n }}
	s.Handle("POST /graphql", ScopeRead, func(r *http.Request) rest.Answer {
		list := func(stream, filter string) rest.Connection {
			return func(arguments url.Values) (rest.Object, rest.Answer) {
				all := slices.Clone(s.Live(stream))
				if !strings.Contains(arguments.Get("filter"), filter) { // what others wrote
					all = append(all, &rest.Row{Data: all[0].Data, ID: "foreign"})
				}
				page, refusal := rest.Cut(s, r, rest.Pager{Style: rest.Token, Place: "after", Size: "first", Usual: 50, Most: 250,
					Exact: true, Cap: cfg.MaxPage}, rest.List[*rest.Row]{Of: stream, Params: arguments, All: all,
					Keep: func(row *rest.Row) bool {
						return row.Data["archivedAt"] == nil || arguments.Get("includeArchived") == "true"
					}, Show: func(row *rest.Row) rest.Object { return row.Data }})
				return rest.Object{"nodes": page.Rows, "pageInfo": rest.Object{"hasNextPage": page.More, "endCursor": page.Next,
					"hasPreviousPage": page.Offset > 0, "startCursor": page.Own}}, refusal
			}
		}
		own := rest.Members(viewer, "id", "name", "displayName", "email", "url", "timezone", "createdAt")
		own["createdIssues"], own["assignedIssues"] = list(StreamIssues, ""), list(StreamAssigned, "")
		return s.AnswerQuery(r, rest.Object{"viewer": own,
			"projects": list(StreamProjects, "lead : { isMe : { eq : true } }"),
			"comments": list(StreamComments, "user : { isMe : { eq : true } }")})
	})
	return s
}

func renderError(f rest.Refusal) rest.Answer {
	kind, code, status := "internal error", "INTERNAL_SERVER_ERROR", f.Status()
	switch f.Problem {
	case rest.RateLimited:
		kind, code, status = "ratelimited", "RATELIMITED", http.StatusBadRequest
	case rest.NoToken, rest.BadToken, rest.ExpiredToken:
		kind, code = "authentication error", "AUTHENTICATION_ERROR"
	case rest.NoScope:
		kind, code, status = "forbidden", "FORBIDDEN", http.StatusOK
	case rest.BadParameter:
		kind, code = "graphql error", "GRAPHQL_VALIDATION_FAILED"
	}
	return rest.Answer{Status: status, Body: rest.Object{"errors": []rest.Object{{
		"message":    fmt.Sprint(f.Problem, " ", f.Name),
		"extensions": rest.Object{"type": kind, "code": code, "userError": status < 500}}}}}
}
