// Package toggl simulates the parts of Toggl Track's API v9 and Reports API v3 that a person's own time is read from.
//
// Written from Toggl's OpenAPI document of version 9 (a public copy of December 2024, with recorded answers) and its
// page "API & Webhook limits" (read in November 2026).
//
//   - The API token is the name of basic authentication, and api_token the password.
//   - Lists of the account are whole. An empty one is null.
//   - A report has rows, 50 unless page_size asks for more, the latest first unless order_dir is ASC. A header has the
//     number of the next row. Days are those of the profile's time zone. A running entry is in no report.
//   - Requests in an hour are limited, with a quota in headers. A refusal has the status 402.
//
// Not in the documents, and chosen here: a report of more than a year is refused (version 2 of the reports does so);
// the largest page; 403 for a bad token, as public clients
// expect; one quota for the account and its organizations, which Toggl counts apart; the body
// of refusals.
package toggl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamWorkspaces = "workspaces"
	StreamClients    = "clients"
	StreamProjects   = "projects"
	StreamTags       = "tags"
	StreamEntries    = "time_entries"
)

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed          uint64
	Entries, Each int // time entries; projects, clients and tags each
	MaxPage, Rate int // largest page of a report; requests in an hour (30)
	Token         string
	Now           func() time.Time // clock of the data and of the Date header; nil means the wall clock
}

const (
	userID    = 2166
	workspace = 7001 // and the next one
)

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	var s *rest.Service
	quota := rest.FixedWindow{Rate: cmp.Or(cfg.Rate, 30), Window: time.Hour}
	s = rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Now: cfg.Now, Errors: renderError,
		Credential: func(r *http.Request) string {
			token, word, _ := r.BasicAuth()
			return map[bool]string{true: token}[word == "api_token"]
		},
		Quota: func(h http.Header) bool {
			now, own := s.Now(), http.Header{}
			allowed := quota.Spend(now, own)
			h.Set("X-Toggl-Quota-Remaining", own.Get("X-RateLimit-Remaining"))
			h.Set("X-Toggl-Quota-Resets-In", fmt.Sprint(int(now.Truncate(time.Hour).Add(time.Hour).Sub(now).Seconds())+1))
			return allowed
		}})
	stamp := func() string { return s.Now().UTC().Format("2006-01-02T15:04:05+00:00") }
	list := func(stream string, count int, fill func(row *rest.Row)) {
		s.Open(&rest.Collection{Stream: stream, Count: count, New: func(row *rest.Row) {
			row.Data = rest.Object{"id": 100_000 + s.NextID(), "name": fmt.Sprint("Gärtnerei & 雨 ", row.N), "at": stamp()}
			fill(row)
		}, Edit: func(row *rest.Row) { row.Data["name"], row.Data["at"] = "Renamed", stamp() }})
		s.Handle("GET /api/v9/me/"+stream, "", func(r *http.Request) rest.Answer {
			rows := rest.Filter(s.Live(stream), func(row *rest.Row) bool {
				return row.Data["active"] != false || r.URL.Query().Get("include_archived") == "true"
			})
			if len(rows) == 0 {
				return rest.OK(nil)
			}
			return rest.OK(rest.Show(rows, func(row *rest.Row) rest.Object { return row.Data }))
		})
	}
	list(StreamWorkspaces, 2, func(w *rest.Row) {
		w.Data["id"], w.Data["organization_id"], w.Data["role"], w.Data["admin"] = workspace+w.N, 801, "admin", true
		w.Data["default_currency"], w.Data["premium"], w.Data["api_token"] = "EUR", false, "not-for-you"
	})
	list(StreamClients, cfg.Each, func(c *rest.Row) {
		c.Data["wid"], c.Data["archived"], c.Data["creator_id"] = workspace, c.N%3 == 1, userID
		if c.N%2 == 0 {
			c.Data["notes"] = "pays late"
		}
	})
	list(StreamProjects, cfg.Each, func(p *rest.Row) {
		maps.Copy(p.Data, rest.Object{"workspace_id": workspace + p.N%2, "wid": workspace + p.N%2, "client_id": nil,
			"is_private": true, "active": p.N%3 != 2, "status": "active", "color": "#0b83d9", "billable": nil, "rate": nil,
			"currency": nil, "fixed_fee": nil, "estimated_seconds": nil, "actual_seconds": 7200 * p.N, "created_at": stamp(),
			"server_deleted_at": nil, "start_date": "2026-01-05"})
		if p.N%3 == 1 {
			maps.Copy(p.Data, rest.Object{"client_id": 100_001, "cid": 100_001, "billable": true, "rate": 62.5,
				"currency": "EUR", "fixed_fee": 900.25, "estimated_seconds": 36000, "end_date": "2026-12-24"})
		}
	})
	list(StreamTags, cfg.Each, func(t *rest.Row) { t.Data["workspace_id"], t.Data["creator_id"] = workspace, userID })
	s.Handle("GET /api/v9/me", "", func(*http.Request) rest.Answer {
		return rest.OK(rest.Object{"id": userID, "email": "o@example.org", "fullname": "Ottilie", "timezone": "Europe/Vienna",
			"default_workspace_id": workspace, "api_token": cfg.Token,
			"created_at": s.Now().AddDate(0, 0, -300).UTC().Format(time.RFC3339Nano)})
	})
	openEntries(s, cfg)
	return s
}

// openEntries opens the time entries, which reports have.
func openEntries(s *rest.Service, cfg Config) {
	fill := func(e *rest.Row) {
		seconds := 900 + 60*(e.N%50) + e.Version
		e.Data = rest.Object{"user_id": userID, "username": "Ottilie", "email": "o@example.org", "row_number": e.N + 1,
			"description": fmt.Sprint("Prune 梅 ", e.N, " ", e.Version), "project_id": nil, "task_id": nil, "billable": false,
			"tag_ids": []int{}, "currency": "EUR", "billable_amount_in_cents": nil, "hourly_rate_in_cents": nil,
			"time_entries": []rest.Object{{"id": 3_700_000 + e.N, "seconds": seconds, "start": e.At.Format(time.RFC3339),
				"stop": e.At.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339), "at_tz": s.Now().Format(time.RFC3339),
				"at": s.Now().UTC().Format(time.RFC3339)}}}
		if e.ID = fmt.Sprint(3_700_000 + e.N); e.N%3 == 1 {
			maps.Copy(e.Data, rest.Object{"project_id": 100_009, "task_id": 55, "billable": true, "tag_ids": []int{4, 5},
				"tag_names": []string{"outside", "ж"}, "project_name": "Garden", "client_name": "Gärtnerei", "task_name": "Trees",
				"project_color": "#0b83d9", "billable_amount_in_cents": 3125, "hourly_rate_in_cents": 6250})
		}
	}
	s.Open(&rest.Collection{Stream: StreamEntries, Count: cfg.Entries, New: func(e *rest.Row) {
		back := cfg.Entries - e.N
		if back <= 0 { // a phone was offline
			back = 1 + e.N%20
		}
		vienna := time.FixedZone("", 3600)
		e.At = s.Now().In(vienna).Truncate(time.Second).Add(time.Duration(e.N-9*60*back) * time.Minute)
		fill(e)
	}, Show: func(e *rest.Row) rest.Object {
		truth := maps.Clone(e.Data)
		maps.Copy(truth, e.Data["time_entries"].([]rest.Object)[0])
		truth["workspace_id"] = workspace + e.N%2
		return truth
	}})
	recent := func(e *rest.Row) bool { return s.Now().Sub(e.At) < 30*24*time.Hour }
	s.Operations = map[string]func() string{"edit_entries": s.EditRow(StreamEntries, recent, fill),
		"remove_entries": func() string { return s.Delete(StreamEntries, recent) }}
	s.Handle("POST /reports/api/v3/workspace/{id}/search/time_entries", "", func(r *http.Request) rest.Answer {
		var ask struct {
			From    string `json:"start_date"`
			To      string `json:"end_date"`
			Users   []int  `json:"user_ids"`
			First   int    `json:"first_row_number"`
			Size    int    `json:"page_size"`
			Order   string `json:"order_dir"`
			Enrich  bool   `json:"enrich_response"`
			OrderBy string `json:"order_by"`
		}
		err := json.NewDecoder(r.Body).Decode(&ask)
		from, bad := time.Parse(time.DateOnly, ask.From)
		to, worse := time.Parse(time.DateOnly, ask.To)
		if err != nil || bad != nil || worse != nil || to.After(from.AddDate(1, 0, 0)) || ask.OrderBy != "date" {
			return s.Refuse(r, rest.BadParameter, "start_date")
		}
		params := url.Values{"row": {fmt.Sprint(max(ask.First-1, 0))}, "size": {fmt.Sprint(cmp.Or(ask.Size, 50))}}
		pager := rest.Pager{Style: rest.Offset, Place: "row", Size: "size", Usual: 50, Cap: cfg.MaxPage}
		page, refusal := rest.Cut(s, r, pager,
			rest.List[*rest.Row]{Params: params, All: rest.SortByTime(s.Live(StreamEntries), ask.Order == "ASC"),
				Keep: func(e *rest.Row) bool {
					day := e.At.Format(time.DateOnly)
					return day >= ask.From && day <= ask.To && (ask.Users == nil || slices.Contains(ask.Users, userID)) &&
						fmt.Sprint(workspace+e.N%2) == r.PathValue("id")
				}, Show: func(e *rest.Row) rest.Object {
					row := maps.Clone(e.Data)
					for _, name := range []string{"tag_names", "project_name", "client_name", "task_name", "email"} {
						if !ask.Enrich {
							delete(row, name)
						}
					}
					return row
				}})
		if refusal.Status != 0 {
			return refusal
		}
		answer := rest.Answer{Status: http.StatusOK, Body: append([]rest.Object{}, page.Rows...), Header: http.Header{}}
		if next, err := strconv.Atoi(page.Next); err == nil && page.More {
			answer.Header.Set("X-Next-Row-Number", fmt.Sprint(next+1))
		}
		return answer
	})
}

func renderError(f rest.Refusal) rest.Answer {
	status := f.Status()
	if f.Problem == rest.RateLimited && f.Request != nil {
		status = http.StatusPaymentRequired
	} else if f.Problem == rest.BadToken || f.Problem == rest.ExpiredToken {
		status = http.StatusForbidden
	}
	return rest.Answer{Status: status, Body: fmt.Sprint("Toggl: ", f.Problem)}
}
