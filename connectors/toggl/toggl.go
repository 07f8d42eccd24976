// Package toggl collects a person's time entries, projects, clients, tags and workspaces from Toggl Track.
//
//	manifest.json   what it declares: streams, schemas, the form for the API token
//	toggl.go        where the lists are, and how reports become entries
package toggl

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Toggl Track connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL: "https://api.track.toggl.com",
	Auth:    rest.BasicAuth{User: "TOGGL_API_TOKEN", Word: "api_token"},
	Header:  http.Header{"Content-Type": {"application/json"}},
	QuotaOf: []string{"TOGGL_API_TOKEN"},
	Account: &rest.Lookup{Request: rest.Request{Path: "api/v9/me"}, Member: "id"},
	Inspect: inspectAnswer,
	Errors: []rest.ErrorRule{{Status: http.StatusPaymentRequired, Class: connectorkit.RateLimited},
		{Status: http.StatusForbidden, Class: connectorkit.Unauthorized, // of the account; a workspace is declared as missing
			Message: "Toggl does not accept the API token. Copy it from your profile, and connect again with it."}},
	Streams: []rest.Stream{
		ownList("workspaces", nil, rest.Fields{"organization_id": rest.NumberText("organization_id")}),
		ownList("clients", nil, rest.Fields{"workspace_id": rest.NumberText("wid"), "updated_at": rest.From("at")}),
		ownList("projects", url.Values{"include_archived": {"true"}}, rest.Fields{"updated_at": rest.From("at"),
			"workspace_id": rest.NumberText("workspace_id"), "client_id": rest.NumberText("client_id")}),
		ownList("tags", nil, rest.Fields{"workspace_id": rest.NumberText("workspace_id"), "updated_at": rest.From("at")}),
		{Name: "time_entries", Request: rest.Request{Method: http.MethodPost,
			Path: "reports/api/v3/workspace/{id}/search/time_entries"}, Prepare: searchEntries, Pages: nextRow{},
			Select: entriesOfRows, Inspect: inspectReport, OmitEmpty: true,
			Partitions: rest.ParentsOf("workspaces", "id", nil, nil),
			// A run that uses up its quota begins its window again: windows are short enough for the smallest quota.
			Sync: rest.DateWindows{Start: firstDay, Days: 90, Again: 45},
			Fields: rest.Fields{"id": rest.NumberText("entry.id"), "workspace_id": rest.FromPartition("id"),
				"start": rest.From("entry.start").Time(), "stop": rest.From("entry.stop"), "seconds": rest.From("entry.seconds"),
				"updated_at": rest.From("entry.at"), "description": rest.From("row.description"),
				"project_id": rest.NumberText("row.project_id"), "task_id": rest.NumberText("row.task_id"),
				"billable": rest.From("row.billable"), "tags": rest.From("row.tag_names"),
				"project_name": rest.From("row.project_name"), "client_name": rest.From("row.client_name"),
				"task_name": rest.From("row.task_name"), "currency": rest.From("row.currency"),
				"billable_amount_in_cents": rest.From("row.billable_amount_in_cents"),
				"hourly_rate_in_cents":     rest.From("row.hourly_rate_in_cents")}},
	},
}

// ownList is a list of the account, which one answer has whole.
func ownList(stream string, query url.Values, fields rest.Fields) rest.Stream {
	fields["id"] = rest.NumberText("id")
	return rest.Stream{Name: stream, Request: rest.Request{Path: "api/v9/me/" + stream, Query: query}, Fields: fields,
		OmitEmpty: true, Shared: stream == "workspaces"}
}

// inspectAnswer reads the quota. Toggl refuses with 402 until it resets, at most an hour later. An empty list can be
// null.
func inspectAnswer(r *governhttp.Response) error {
	reset := time.Hour
	if seconds, err := strconv.Atoi(r.Header.Get("X-Toggl-Quota-Resets-In")); err == nil && seconds >= 0 {
		reset = time.Duration(seconds) * time.Second
	}
	if left, err := strconv.Atoi(r.Header.Get("X-Toggl-Quota-Remaining")); err == nil && !r.Quota.Known {
		r.Quota = governor.Quota{Known: true, Remaining: left, Reset: reset}
	}
	if r.Status == http.StatusPaymentRequired && !r.HasRetryAfter {
		r.RetryAfter, r.HasRetryAfter = reset, true
	}
	if r.Status == http.StatusOK && string(r.Body) == "null" {
		r.Body = []byte("[]")
	}
	return nil
}

// inspectReport decides that a workspace without access to its reports is not readable. Others are.
func inspectReport(_ *rest.Run, r *governhttp.Response) (decided bool, err error) {
	if r.Status != http.StatusForbidden {
		return false, nil
	}
	return true, connectorkit.ByStatus(r)
}

// firstDay is a year before the account was made, because an entry can be for an earlier day, or the owner's choice.
func firstDay(r *rest.Run) (time.Time, error) {
	if day := r.Setup.Env("PDPP_TOGGL_FIRST_DAY"); day != "" {
		return time.Parse(time.DateOnly, day)
	}
	created, err := r.AccountText(context.Background(), "created_at") // known: a run requests it first
	at, unreadable := time.Parse(time.RFC3339, created)
	if unreadable != nil {
		at = time.Date(2007, 1, 1, 0, 0, 0, 0, time.UTC) // Toggl began in 2006
	}
	return at.UTC().Truncate(24*time.Hour).AddDate(-1, 0, 0), err
}

// searchEntries asks for the owner's entries of a window. Its days are those of the profile's time zone, which can
// change: the question is wider than the window, so that an absent entry is a deleted one.
func searchEntries(ctx context.Context, r *rest.Run, ask rest.Ask, q *governhttp.Request) error {
	account, err := r.Account(ctx)
	if err != nil {
		return err
	}
	body := map[string]any{"start_date": ask.Window.From.AddDate(0, 0, -2).Format(time.DateOnly),
		"end_date": ask.Window.To.AddDate(0, 0, 1).Format(time.DateOnly), "user_ids": []json.Number{json.Number(account)},
		"order_by": "date", "order_dir": "ASC", "page_size": 200, "enrich_response": true}
	if ask.Page != "" {
		body["first_row_number"] = json.Number(ask.Page)
	}
	q.Body, err = json.Marshal(body)
	return err
}

// nextRow is the pager of reports. A header has the number of the next page's first row.
type nextRow struct{}

// SetPage implements rest.Pager. The body of the request has the row.
func (nextRow) SetPage(*governhttp.Request, string) error { return nil }

// NextPage implements rest.Pager.
func (nextRow) NextPage(a *rest.Answer, o rest.PageOutcome) (string, error) {
	next := a.Header.Get("X-Next-Row-Number")
	if _, err := strconv.Atoi(next); next != "" && (err != nil || next == o.Token) {
		return "", connectorkit.Fail(connectorkit.Malformed, strconv.ErrSyntax)
	}
	return next, nil
}

// entriesOfRows returns the entries of a report, each with its row, which has what the entries of a row share.
func entriesOfRows(a *rest.Answer) ([]jsontext.Value, error) {
	var rows []json.RawMessage
	if err := json.Unmarshal(a.Body, &rows); err != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, err)
	}
	var out []jsontext.Value
	for _, row := range rows {
		var shown struct {
			Entries []json.RawMessage `json:"time_entries"`
		}
		if json.Unmarshal(row, &shown) != nil || len(shown.Entries) == 0 {
			shown.Entries = []json.RawMessage{[]byte("null")} // an entry that cannot be read
		}
		for _, entry := range shown.Entries {
			out = append(out, jsontext.Value(`{"row":`+string(row)+`,"entry":`+string(entry)+`}`))
		}
	}
	return out, nil
}
