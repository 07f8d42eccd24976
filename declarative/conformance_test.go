//pdpp:tier programs

package declarative_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

const token = "token_under_test"

// newProvider simulates the invented provider of testdata/tasks.yaml.
func newProvider(projects, tasks int) *rest.Service {
	s := rest.New(rest.Options{Seed: 4, Token: token, Clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		Errors: func(f rest.Refusal) rest.Answer {
			return rest.Answer{Status: f.Status(), Body: rest.Object{"message": f.Problem}}
		}})
	id := func(row *rest.Row) { row.ID = fmt.Sprintf("id%d", s.NextID()) }
	s.Open(&rest.Collection{Stream: "projects", Count: projects, Route: "GET /v1/projects",
		Pager: rest.Pager{Style: rest.Number, Place: "page", Size: "per_page", Usual: 4, Most: 50, Items: "projects"},
		New: func(row *rest.Row) {
			id(row)
			row.Data = rest.Object{"id": row.ID, "name": "Project " + row.ID}
		},
		Edit: func(row *rest.Row) { row.Data["name"] = "Renamed " + row.ID }})
	s.Open(&rest.Collection{Stream: "open_tasks", Count: tasks, Route: "GET /v1/projects/{id}/tasks",
		Pager: rest.Pager{Style: rest.Token, Place: "cursor", Usual: 3, Items: "tasks", Next: "next_cursor"},
		Fits:  func(r *http.Request, row *rest.Row) bool { return row.Parent.ID == r.PathValue("id") },
		New: func(row *rest.Row) {
			id(row)
			row.Parent = s.Rows["projects"][row.N%len(s.Rows["projects"])]
			row.Data = rest.Object{"id": row.ID, "title": "Task " + row.ID, "done": false,
				"project": row.Parent.ID, "at": s.Advance(time.Hour).Format(time.RFC3339)}
		},
		Edit: func(row *rest.Row) { row.Data["done"] = true }})
	s.Open(&rest.Collection{Stream: "events", Count: tasks, Route: "GET /v1/events",
		Pager: rest.Pager{Style: rest.Offset, Place: "offset", Size: "limit", Usual: 3, Most: 50, Items: "data.items"},
		Fits: func(r *http.Request, row *rest.Row) bool {
			q, at := r.URL.Query(), row.Data["at"].(string)
			return row.Data["kind"] == q.Get("kind") && at >= q.Get("from") && at <= q.Get("to")
		},
		New: func(row *rest.Row) {
			id(row)
			kind := []string{"meeting", "call"}[row.N%2]
			row.Data = rest.Object{"id": row.ID, "kind": kind, "note": "Note " + row.ID, "visible": row.N%5 != 4,
				"at": s.Advance(7 * time.Hour).Format(time.RFC3339)}
			row.ID = protocol.CompoundKey(kind, row.ID)
		},
		Show: func(row *rest.Row) rest.Object { return row.Data }})
	return s
}

// filtered is the provider without the events that the filter of the file leaves out.
type filtered struct{ providersim.Provider }

func (f filtered) Truth() providersim.Truth {
	all := f.Provider.Truth()
	for key, item := range all["events"] {
		if strings.Contains(string(item.Data), `"visible":false`) {
			delete(all["events"], key)
		}
	}
	return all
}

// wrapTasks returns the connector of testdata/tasks.yaml.
func wrapTasks(t *testing.T) catalog.Connector {
	t.Helper()
	return wrapFile(t, "tasks")
}

// wrapFile writes the connector folder of a source file and returns the connector as a server finds it.
func wrapFile(t *testing.T, name string) catalog.Connector {
	t.Helper()
	return wrapPath(t, filepath.Join("testdata", name+".yaml"), name)
}

// wrapPath is wrapFile for a file elsewhere.
func wrapPath(t *testing.T, path, name string) catalog.Connector {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	if _, err := declarative.Wrap(dir, text, describe.Options{Key: name}); err != nil {
		t.Fatal(err)
	}
	host := t.TempDir()
	if err := programs.Build(host, "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Catalog{Host: filepath.Join(host, "pdpp-connectors"), Dir: filepath.Dir(dir)}.Find(t.Context(),
		name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// target is the source file against its simulated provider.
func target(c catalog.Connector, projects, tasks int) connectortest.Target {
	return connectortest.Target{
		Connector: c,
		Start: func(t *testing.T) *connectortest.Sim {
			service := newProvider(projects, tasks)
			server, err := providersim.Start("tasks", service, "", "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = server.Close() })
			return &connectortest.Sim{Provider: filtered{server.Sim}, Gate: server.Sim.Gate(),
				Env: map[string]string{"PDPP_TASKS_TOKEN": token, "PDPP_TASKS_SERVER": server.BaseURL,
					"PDPP_TASKS_PDPP_OWN_SERVER": describe.OwnServerYes}}
		},
		Credential: "PDPP_TASKS_TOKEN",
		Snapshot:   true,
		Changes: []providersim.Mutation{{Op: "add_open_tasks", N: 3}, {Op: "change_open_tasks", N: 2},
			{Op: "change_projects", N: 1}, {Op: "add_events", N: 2}},
		Deletion: providersim.Mutation{Op: "delete_open_tasks", N: 2}, DeletedStream: "open_tasks",
		Scoped: "open_tasks", OptionalField: "title",
		Stored: stored,
	}
}

// TestConformance runs the suite of connectors on a source that is only a file.
func TestConformance(t *testing.T) {
	c := wrapTasks(t)
	connectortest.RunSuite(t, target(c, 3, 14), target(c, 6, 60))
}

// A refusal that the file ignores leaves out one parent, and the children of the others are collected.
func TestIgnoredRefusalOfOneParent(t *testing.T) {
	t.Parallel()
	var truth providersim.Truth
	tg := target(wrapTasks(t), 3, 14)
	start := tg.Start
	tg.Start = func(t *testing.T) *connectortest.Sim {
		sim := start(t)
		truth = sim.Provider.Truth()
		to, err := url.Parse(sim.Env["PDPP_TASKS_SERVER"])
		if err != nil {
			t.Fatal(err)
		}
		forward := httputil.NewSingleHostReverseProxy(to)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/projects/id1/tasks" {
				http.Error(w, `{"message":"archived"}`, http.StatusNotFound)
				return
			}
			forward.ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		sim.Env["PDPP_TASKS_SERVER"] = front.URL
		return sim
	}
	b := connectortest.NewHarness(t, tg)
	r := b.Succeed(t)
	differences, err := b.Compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, d := range differences {
		missing[d.Key] = true
	}
	for key, item := range truth["open_tasks"] {
		if refused := strings.Contains(string(item.Data), `"project":"id1"`); refused != missing[key] {
			t.Errorf("task %s of the refused project %t: missing %t", key, refused, missing[key])
		}
	}
	if len(r.KnownGaps) == 0 {
		t.Error("what was left out is not declared")
	}
}

// stored returns the record that the store must hold: a task gets the id of its project from the request.
func stored(stream, _ string, data json.RawMessage) (json.RawMessage, error) {
	var record map[string]any
	if err := json.Unmarshal(data, &record); err != nil {
		return nil, err
	}
	switch {
	case stream == "open_tasks":
		record["project_id"] = record["project"]
	case stream == "events":
		delete(record, "visible")
	}
	return json.Marshal(record)
}

// A file that changed after it was added does not run.
func TestChangedFileDoesNotRun(t *testing.T) {
	c := wrapTasks(t)
	path := filepath.Join(c.Dir, declarative.SourceFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "https://api.tasks.example", "https://api.elsewhere.example", 1)
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := declarative.Load(c.Dir); err != declarative.ErrChanged {
		t.Errorf("a changed file: %v", err)
	}
}
