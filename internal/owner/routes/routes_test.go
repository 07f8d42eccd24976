package routes_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/routes"
	"github.com/pdpp-go/pdpp/internal/view"
)

// exchange sends one request and returns the status and the decoded response.
func exchange(t *testing.T, o api.Owner, method, target, body string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	checked{t, muxOf(routes.Routes(o, nil))}.ServeHTTP(w, r)
	var answer map[string]any
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%s %s: %v", method, target, err)
		}
	}
	return w.Code, answer
}

func codeOf(answer map[string]any) string {
	problem, _ := answer["error"].(map[string]any)
	code, _ := problem["code"].(string)
	return code
}

// What cannot be understood is refused with the name of what is wrong, and the owner
// is not asked.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ method, target, body, code, param string }{
		{"GET", "/_ref/connectors?limit=101", "", "invalid_request", "limit"},
		{"GET", "/_ref/connectors?cursor=nonsense", "", "invalid_cursor", "cursor"},
		{"GET", "/_ref/connectors?conector_id=x", "", "invalid_request", "conector_id"},
		{"GET", "/_ref/runs?limit=-1", "", "invalid_request", "limit"},
		{"GET", "/_ref/runs?limit=1&limit=2", "", "invalid_request", "limit"},
		{"GET", "/_ref/runs/run_1/timeline?after=x", "", "invalid_request", "after"},
		{"GET", "/_ref/explore/records?order=up", "", "invalid_request", "order"},
		{"GET", "/_ref/explore/records?changes=1", "", "invalid_request", "changes"},
		{"GET", "/_ref/export?format=xml", "", "invalid_request", "format"},
		{"GET", "/_ref/runs?limit=1;x", "", "invalid_request", ""},
		{"GET", "/_ref/search?filter[a]=b", "", "invalid_request", "filter[a]"},
		{"POST", "/_ref/runs/run_1/interaction", `{"interaction_id":"q","status":"success "}`, "invalid_status", "status"},
		{"POST", "/_ref/approvals/req_1", `{}`, "invalid_request", "approve"},
	} {
		t.Run(c.method+" "+c.target, func(t *testing.T) {
			f := newFake(fake{})
			r := httptest.NewRequest(c.method, c.target, strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			muxOf(routes.Routes(f, nil)).ServeHTTP(w, r)
			var answer struct {
				Error struct{ Code, Param, Message string }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if w.Code != http.StatusBadRequest || answer.Error.Code != c.code || answer.Error.Param != c.param ||
				answer.Error.Message == "" {
				t.Errorf("%d %+v", w.Code, answer.Error)
			}
			if f.method != "" {
				t.Errorf("%s was asked", f.method)
			}
		})
	}
}

// An error that is not for the owner is in the log with the route and not in the answer.
func TestInternalErrorsStayWithin(t *testing.T) {
	var log bytes.Buffer
	f := newFake(fake{err: errors.New("disk of alder is full")})
	w := httptest.NewRecorder()
	routes := routes.Routes(f, slog.New(slog.NewTextHandler(&log, nil)))
	muxOf(routes).ServeHTTP(w, httptest.NewRequest("GET", "/_ref/connections/cin_1/why", nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "alder") ||
		!strings.Contains(w.Body.String(), `"internal_error"`) {
		t.Errorf("answer %d %s", w.Code, w.Body)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "alder") ||
		!strings.Contains(got, "/_ref/connections/{id}/why") {
		t.Errorf("log: %q", got)
	}
}

// Asking for a run while one is under way names it.
func TestActiveRunIsNamed(t *testing.T) {
	f := newFake(fake{err: &api.Error{Status: http.StatusConflict, Code: api.CodeRunActive, Message: "A run is under way.",
		RunID: "run_7"}})
	status, answer := exchange(t, f, "POST", "/_ref/connections/cin_1/run", "")
	if problem := answer["error"].(map[string]any); status != http.StatusConflict ||
		codeOf(answer) != "run_already_active" || problem["run_id"] != "run_7" {
		t.Errorf("%d %v", status, answer)
	}
}

// An export that fails midway does not look complete to its reader.
func TestBrokenExportIsNotWhole(t *testing.T) {
	for _, lines := range []int{1, 100_000} { // less and more than what is held back
		f := newFake(fake{written: bytes.Repeat([]byte("{\"id\":1}\n"), lines), err: errors.New("the store went away")})
		srv := httptest.NewServer(muxOf(routes.Routes(f, nil)))
		client := api.NewClient(srv.URL, "", srv.Client())
		var got bytes.Buffer
		err := client.Export(t.Context(), &got, api.ExportQuery{ConnectionID: "cin_1", Stream: "notes", Format: "jsonl"})
		var known *api.Error
		if !errors.As(err, &known) || known.Code != api.CodeUnreachable || known.Next == "" {
			t.Errorf("%d lines: error is %v", lines, err)
		}
		srv.Close()
	}
}

// An export is offered as a file with the name of the stream, whatever that is.
func TestExportIsAFile(t *testing.T) {
	for format, kind := range map[string]string{"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"} {
		w := httptest.NewRecorder()
		muxOf(routes.Routes(newFake(fake{}), nil)).ServeHTTP(w,
			httptest.NewRequest("GET", "/_ref/export?connection_id=c&stream=a%22%0D%0Ab&format="+format, nil))
		disposition := w.Header().Get("Content-Disposition")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != kind ||
			!strings.HasPrefix(disposition, "attachment;") || strings.ContainsAny(disposition, "\r\n") {
			t.Errorf("%s: %d %v", format, w.Code, w.Header())
		}
	}
}

// The word for all connections is the worst that the summary knows, and never healthy
// while something is not known.
func TestFleetHealth(t *testing.T) {
	for _, c := range []struct {
		summary view.Summary
		runtime *view.RuntimeIndicator
		want    string
	}{
		{view.Summary{Registered: 2, Healthy: 2, Calm: 2, NothingToSee: true}, nil, "healthy"},
		{view.Summary{Registered: 2, Healthy: 2, Calm: 1, Advisory: 1, Visible: 1}, nil, "healthy_with_advisories"},
		{view.Summary{Registered: 2, Degraded: 1, Healthy: 1, Calm: 2, Visible: 1}, nil, "healthy_with_advisories"},
		{view.Summary{Registered: 2, Healthy: 1, Unknown: 1, Calm: 2}, nil, "indeterminate"},
		{view.Summary{Registered: 2, Healthy: 2, Checking: 1, Calm: 2}, nil, "indeterminate"},
		{view.Summary{Registered: 2, Unknown: 1, NeedsAttention: 1, Attention: 1}, nil, "unhealthy"},
		{view.Summary{Registered: 2, Healthy: 2, Calm: 2}, &view.RuntimeIndicator{Sentence: "The scheduler is not working."},
			"unhealthy"},
	} {
		f := newFake(fake{give: []any{view.Overview{Summary: c.summary, Indicator: c.runtime}}})
		w := httptest.NewRecorder()
		muxOf(routes.Routes(f, nil)).ServeHTTP(w, httptest.NewRequest("GET", "/_ref/fleet-health", nil))
		var answer struct {
			State        string
			FullyHealthy bool              `json:"fully_healthy"`
			Dimensions   map[string]string `json:"dimensions"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.State != c.want || answer.FullyHealthy != (c.want == "healthy") ||
			(answer.Dimensions["runtime"] == "healthy") != (c.runtime == nil) {
			t.Errorf("%+v: %+v", c.summary, answer)
		}
	}
}

// Paging returns every connection once, in the order of ids; filters return only the matching connections.
func TestSummariesPageByPage(t *testing.T) {
	all := view.Overview{}
	for i := range 7 {
		c := judged(fmt.Sprintf("cin_%d", (i*3)%7))
		c.ConnectorID = []string{"garden", "library"}[i%2]
		all.Connections = append(all.Connections, c)
	}
	f := newFake(fake{give: []any{all}})
	var got []string
	for cursor := ""; ; {
		status, answer := exchange(t, f, "GET", "/_ref/connectors?limit=3&cursor="+cursor, "")
		if status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		for _, c := range answer["data"].([]any) {
			got = append(got, c.(map[string]any)["connection_id"].(string))
		}
		if cursor, _ = answer["next_cursor"].(string); cursor == "" {
			break
		}
	}
	if want := "cin_0 cin_1 cin_2 cin_3 cin_4 cin_5 cin_6"; strings.Join(got, " ") != want {
		t.Errorf("pages hold %v", got)
	}
	for query, want := range map[string]int{"connector_id=library": 3, "connection=cin_3": 1, "connection=cin_9": 0} {
		if _, answer := exchange(t, f, "GET", "/_ref/connectors?"+query, ""); len(answer["data"].([]any)) != want {
			t.Errorf("%s: %v", query, answer["data"])
		}
	}
}

// judged is a connection of which nothing is known, judged as any other.
func judged(id string) view.Connection {
	return view.Judge(&evidence.Evidence{Connection: evidence.Connection{ID: id}}, time.Unix(1_800_000_000, 0).UTC(), true)
}

// Pausing keeps the rhythm; without one there is nothing to pause.
func TestPauseAndResume(t *testing.T) {
	rhythm := api.Schedule{IntervalSeconds: 900, JitterSeconds: 30, Enabled: true}
	for path, enabled := range map[string]bool{"pause": false, "resume": true} {
		f := newFake(fake{give: []any{api.Detail{Plan: &api.Plan{Schedule: rhythm}}}})
		status, _ := exchange(t, f, "POST", "/_ref/connections/cin_1/schedule/"+path, "")
		want := rhythm
		want.Enabled = enabled
		if status != http.StatusNoContent || f.method != "SetSchedule" || f.asked[1] != any(want) {
			t.Errorf("%s: %d, %s %v", path, status, f.method, f.asked)
		}
		status, answer := exchange(t, newFake(fake{give: []any{api.Detail{}}}), "POST",
			"/_ref/connections/cin_1/schedule/"+path, "")
		if status != http.StatusNotFound || codeOf(answer) != "not_found" {
			t.Errorf("%s without a schedule: %d %v", path, status, answer)
		}
	}
}

// A schedule without the field enabled is enabled.
func TestScheduleIsEnabledUnlessItSaysNo(t *testing.T) {
	for body, want := range map[string]bool{`{"interval_seconds":900}`: true,
		`{"interval_seconds":900,"enabled":false}`: false} {
		f := newFake(fake{})
		if status, _ := exchange(t, f, "PUT", "/_ref/connections/cin_1/schedule", body); status != http.StatusNoContent ||
			f.asked[1].(api.Schedule).Enabled != want {
			t.Errorf("%s: %d %v", body, status, f.asked)
		}
	}
}
