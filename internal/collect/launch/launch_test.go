package launch

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestRunIsStored(t *testing.T) {
	b := newBed(t)
	r := b.run(t, "collects", RunRequest{})
	mustSucceed(t, r)
	if diff := cmp.Diff([]string{"1", "2"}, b.keys(t)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	found, err := b.store.Search(t.Context(), store.SearchQuery{In: []store.AccessFilter{{ConnectionID: connection}},
		Text: "two"})
	if err != nil || len(found) != 1 || found[0].Key != "2" {
		t.Errorf("search = %v, %v", found, err)
	}
	if diff := cmp.Diff(Counts{Written: 2}, r.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	row := b.row(t, r.RunID)
	if row.Status != store.RunSucceeded || row.RecordsEmitted != 2 || *row.ReportedRecords != 2 ||
		row.CompletedAt == nil || row.Trigger != store.TriggerManual {
		t.Errorf("run = %+v", row)
	}
	if !strings.Contains(string(row.Checkpoint), `"commit_status":"committed"`) ||
		!strings.Contains(string(row.Facts), `"stream":"notes"`) {
		t.Errorf("checkpoint = %s, facts = %s", row.Checkpoint, row.Facts)
	}
	kinds := b.timeline(t, r.RunID)
	if kinds[0] != "run.started" || kinds[len(kinds)-1] != "run.completed" ||
		!strings.Contains(strings.Join(kinds, " "), "run.progress_reported") {
		t.Errorf("timeline = %v", kinds)
	}
	body, generation, err := b.store.Manifest(t.Context(), "sample")
	if conn, _ := b.store.Connection(t.Context(), connection); err != nil || generation != 1 ||
		conn.ManifestGeneration != 1 || !bytes.Contains(body, []byte(`"Sample"`)) {
		t.Errorf("manifest generation %d, connection %+v: %v", generation, conn, err)
	}
	if _, err := b.store.ActiveLease(t.Context(), connection); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the lease is still held: %v", err)
	}
}

// A reader of the change feed sees the deletion; a reader of records does not
// see the record.
func TestTombstoneIsObservable(t *testing.T) {
	t.Attr("spec", "RT-07.1")
	b := newBed(t)
	mustSucceed(t, b.run(t, "deletes", RunRequest{}))
	if diff := cmp.Diff([]string{"2"}, b.keys(t)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	changes, err := b.store.Changes(t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: connection, Stream: "notes"}})
	if err != nil || len(changes) != 2 {
		t.Fatalf("changes = %+v, %v", changes, err)
	}
	if last := changes[1]; last.Key != "1" || !last.Deleted || last.Data != nil || last.EmittedAt == "" {
		t.Errorf("last change = %+v, want the tombstone of 1", last)
	}
}

// started returns the START message that a run's connector received, and its environment.
func (b *bed) started(t *testing.T, req RunRequest) (start, env string, r RunResult) {
	t.Helper()
	r = b.run(t, "echoes", req)
	mustSucceed(t, r)
	text := func(key string) string {
		rec, err := b.store.Record(t.Context(), connection, "notes", key)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Title string `json:"title"`
		}
		if err := unmarshal(rec.Data, &s); err != nil {
			t.Fatal(err)
		}
		return s.Title
	}
	return text("start"), text("env"), r
}

func TestNextRunStartsFromTheCursors(t *testing.T) {
	b := newBed(t)
	if start, _, _ := b.started(t, RunRequest{}); !strings.Contains(start, `"state":{}`) ||
		strings.Contains(start, "catch_up_state") {
		t.Errorf("first START = %s", start)
	}
	mustSucceed(t, b.run(t, "collects", RunRequest{}))
	start, _, r := b.started(t, RunRequest{RecoveryOnly: true})
	for _, want := range []string{`"state":{"notes":{"n":1}}`, `"catch_up_state":{"notes":{"n":2}}`,
		`"collection_mode":"incremental"`,
		`"recovery_only":true`, `"run_id":"` + r.RunID + `"`, `"filesystem":{}`} {
		if !strings.Contains(start, want) {
			t.Errorf("START = %s, want %s in it", start, want)
		}
	}
	if strings.Contains(start, "interactive") {
		t.Errorf("interactive is offered although nobody can be asked: %s", start)
	}
	start, _, _ = b.started(t, RunRequest{Mode: protocol.FullRefresh, Scope: []protocol.StreamScope{{Name: "notes"}}})
	if !strings.Contains(start, `"state":{}`) || !strings.Contains(start, `"streams":[{"name":"notes"}]`) ||
		strings.Contains(start, "catch_up_state") {
		t.Errorf("START of a full refresh = %s", start)
	}
}

// TestFullRefreshIsToldThePace starts over without any place, but not as if the
// provider were unknown.
func TestFullRefreshIsToldThePace(t *testing.T) {
	b := newBed(t)
	mustSucceed(t, b.run(t, "paces", RunRequest{}))
	if start, _, _ := b.started(t, RunRequest{}); !strings.Contains(start,
		`"state":{"notes":{"n":1,"pacing_interval_ms":400,"pacing_kind":"x"}}`) {
		t.Errorf("START = %s", start)
	}
	start, _, _ := b.started(t, RunRequest{Mode: protocol.FullRefresh})
	if !strings.Contains(start, `"state":{"notes":{"pacing_interval_ms":400}}`) ||
		strings.Contains(start, "catch_up_state") {
		t.Errorf("START of a full refresh = %s", start)
	}
}

func TestFailedRunIsStored(t *testing.T) {
	b := newBed(t)
	b.env["SAMPLE_TOKEN"], b.env["SAMPLE_CLIENT_SECRET"] = "hunter2-very-secret", "swordfish-very-secret"
	r := b.run(t, "fails", RunRequest{})
	if r.Status != runner.Failed || r.Failure.Reason != runner.ReasonConnectorFailed {
		t.Fatalf("run ended as %s: %v", r.Status, r.Failure)
	}
	if diff := cmp.Diff([]string{"1"}, b.keys(t)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	row := b.row(t, r.RunID)
	if row.Status != store.RunFailed || row.FailureReason != "connector_reported_failed" ||
		row.TerminalReason != "connector" ||
		!strings.Contains(string(row.ConnectorError), `"provider_down"`) ||
		!strings.Contains(row.Error, "refused [redacted]") {
		t.Errorf("run = %+v", row)
	}
	if !strings.Contains(r.StderrTail, "token is [redacted] and [redacted]") {
		t.Errorf("stderr tail = %q", r.StderrTail)
	}
	b.mustNotHold(t, "hunter2-very-secret")
	b.mustNotHold(t, "swordfish-very-secret")
}

// mustNotHold looks through every byte that the store has written.
func (b *bed) mustNotHold(t *testing.T, secret string) {
	t.Helper()
	files, err := filepath.Glob(b.path + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no database files: %v", err)
	}
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s holds %q", filepath.Base(f), secret)
		}
	}
}

func TestGapsAreServedToTheNextRun(t *testing.T) {
	b := newBed(t)
	r := b.run(t, "defers", RunRequest{})
	mustSucceed(t, r)
	if diff := cmp.Diff(Counts{GapsReported: 2}, r.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	gaps := func() map[string]protocol.GapStatus {
		list, err := b.store.ListGaps(t.Context(), store.GapQuery{ConnectionID: connection})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]protocol.GapStatus{}
		for _, g := range list {
			out[g.ParentStream+"/"+g.RecordKey] = g.Status
		}
		return out
	}
	if diff := cmp.Diff(map[string]protocol.GapStatus{"notes/a": protocol.GapPending, "notes/b": protocol.GapPending},
		gaps()); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
	start, _, _ := b.started(t, RunRequest{}) // serves both and settles none: they return to pending
	for _, want := range []string{`"record_key":"a"`, `"parent_stream":"notes"`, `"detail_locator":{"path":"/b"}`,
		`"status":"pending"`, `"reference_only":true`, `:detail-gap-page:1:gap:`} {
		if !strings.Contains(start, want) {
			t.Errorf("START = %s, want %s in it", start, want)
		}
	}
	if start, _, _ := b.started(t, RunRequest{SparePressure: true}); strings.Contains(start, `"record_key"`) {
		t.Errorf("a run that spares the source is given what its pressure left: %s", start)
	}
	r = b.run(t, "defers", RunRequest{})
	mustSucceed(t, r)
	if diff := cmp.Diff(Counts{Written: 2, GapsRecovered: 2}, r.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]protocol.GapStatus{"notes/a": protocol.GapRecovered, "notes/b": protocol.GapRecovered},
		gaps()); diff != "" {
		t.Errorf("gaps after recovery (-want +got):\n%s", diff)
	}
}

func TestRunThatCannotStart(t *testing.T) {
	b := newBed(t)
	l := b.launcher(t, "collects")
	if _, err := l.Run(t.Context(), RunRequest{ConnectionID: "nowhere"}); !errors.Is(err, store.ErrNotFound) ||
		!strings.Contains(err.Error(), "nowhere") {
		t.Errorf("unknown connection: %v", err)
	}
	l.Connectors = catalog.Catalog{}
	if _, err := l.Run(t.Context(), RunRequest{ConnectionID: connection}); !errors.Is(err, catalog.ErrUnknownConnector) {
		t.Errorf("unknown connector: %v", err)
	}
	if runs, err := b.store.ListRuns(t.Context(), store.RunQuery{}); err != nil || len(runs) > 0 {
		t.Errorf("runs = %v, %v", runs, err)
	}
	l = b.launcher(t, "collects")
	l.Bindings = nil
	r, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
	if err != nil || r.Failure == nil || r.Failure.Reason != runner.ReasonBindingMissing {
		t.Errorf("missing binding: %v, %v", r.Failure, err)
	}
	if row := b.row(t, r.RunID); row.Status != store.RunFailed || row.FailureReason != "runtime_binding_missing" {
		t.Errorf("run = %+v", row)
	}
}
