package deviceapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// laptop is an enrolled device with one source.
type laptop struct {
	*bed
	wire.Enrolled
}

func newLaptop(t testing.TB) laptop {
	b := newBed(t)
	return laptop{b, b.enrol(b.code("home", ""), "")}
}

func note(id, more string) slice.Record {
	return slice.Record{Stream: "notes", Key: id, Data: fmt.Appendf(nil, `{"id":%q%s}`, id, more),
		EmittedAt: "2026-03-01T11:00:00Z"}
}

// batch is one of this source's batches, with its hash.
func (l laptop) batch(seq int64, records ...slice.Record) wire.Batch {
	l.t.Helper()
	if records == nil {
		records = []slice.Record{}
	}
	hash, err := wire.BodyHash(records)
	if err != nil {
		l.t.Fatal(err)
	}
	return wire.Batch{DeviceID: l.DeviceID, SourceInstanceID: l.SourceInstanceID, ConnectorID: "notes",
		BatchID: fmt.Sprint("batch-", seq), BatchSeq: seq, BodyHash: hash, Records: records}
}

func (l laptop) upload(b wire.Batch) answer {
	l.t.Helper()
	return l.send(http.MethodPost, "/"+l.DeviceID+"/ingest-batches", l.DeviceToken, encode(l.t, b))
}

func (l laptop) own(path string) string {
	return "/" + l.DeviceID + "/source-instances/" + l.SourceInstanceID + path
}

// encode writes a message as the device's client does.
func encode(t testing.TB, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func decode[T any](t testing.TB, got answer) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(got.body), &out); err != nil {
		t.Fatalf("%s: %v", got.body, err)
	}
	return out
}

// records are the live records of a stream.
func (l laptop) records(stream string) (keys []string) {
	l.t.Helper()
	all, err := l.store.ListRecords(l.t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: l.ConnectorInstanceID, Stream: stream}})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range all {
		keys = append(keys, r.Key)
	}
	slices.Sort(keys)
	return keys
}

func (l laptop) gaps() (out []string) {
	l.t.Helper()
	all, err := l.store.ListGaps(l.t.Context(), store.GapQuery{ConnectionID: l.ConnectorInstanceID})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, g := range all {
		out = append(out, fmt.Sprintf("%s/%s %s %s", g.Stream, g.RecordKey, g.Reason, g.Status))
	}
	slices.Sort(out)
	return out
}

func (l laptop) equal(got, want []string) {
	l.t.Helper()
	if !slices.Equal(got, want) {
		l.t.Errorf("%q, want %q", got, want)
	}
}

// A batch is taken once: again it gets the same answer, byte for byte, and something else
// under its id is a conflict.
func TestBatchIsTakenOnce(t *testing.T) {
	l := newLaptop(t)
	b := l.batch(1, note("a", ""), note("b", `,"at":"2026-03-01T10:00:00Z"`))
	b.State = map[string]jsontext.Value{"notes": jsontext.Value(`{"n":2}`), "notes#catch_up": jsontext.Value(`{"back":1}`),
		"$collection_scope": jsontext.Value(`{}`)}
	first := l.upload(b)
	l.wants(first, http.StatusCreated, "")
	if got := decode[wire.BatchResult](t, first); got.Object != wire.ObjectBatchResult || got.Accepted != 2 ||
		got.Rejected != 0 {
		t.Errorf("answered %+v", got)
	}
	l.pass(time.Hour)
	if again := l.upload(b); again.status != first.status || again.body != first.body {
		t.Errorf("again %d %s, want %d %s", again.status, again.body, first.status, first.body)
	}
	l.equal(l.records("notes"), []string{"a", "b"})
	cursors, err := l.store.Cursors(t.Context(), l.ConnectorInstanceID, "")
	if err != nil || len(cursors) != 2 || cursors[0].Mode != protocol.SteadyState || cursors[1].Mode != protocol.CatchUp {
		t.Errorf("bookmarks %+v, %v", cursors, err)
	}
	other := l.batch(1, note("c", ""))
	l.wants(l.upload(other), http.StatusConflict, wire.CodeBatchConflict)
	b.BatchSeq = 2
	l.wants(l.upload(b), http.StatusConflict, wire.CodeBatchConflict)
	l.equal(l.records("notes"), []string{"a", "b"})
}

// TestBadBatches verifies that the server reports what is wrong with a batch and stores none of it.
func TestBadBatches(t *testing.T) { onBoth(t, testBadBatches) }

func testBadBatches(t *testing.T) {
	l := newLaptop(t)
	stranger := l.enrol(l.code("work", ""), "")
	for name, c := range map[string]struct {
		spoil  func(*wire.Batch)
		status int
		code   string
	}{
		"hash":           {func(b *wire.Batch) { b.BodyHash = strings.Repeat("0", 64) }, 400, wire.CodeHashMismatch},
		"another device": {func(b *wire.Batch) { b.DeviceID = stranger.DeviceID }, 400, "invalid_request"},
		"another device's source": {func(b *wire.Batch) { b.SourceInstanceID = stranger.SourceInstanceID }, 400,
			wire.CodeSourceUnknown},
		"another connector": {func(b *wire.Batch) { b.ConnectorID = "mail" }, 400, "invalid_request"},
		"no id":             {func(b *wire.Batch) { b.BatchID = "" }, 400, "invalid_request"},
		"id of 201 bytes":   {func(b *wire.Batch) { b.BatchID = strings.Repeat("x", 201) }, 400, "invalid_request"},
		"no number":         {func(b *wire.Batch) { b.BatchSeq = 0 }, 400, "invalid_request"},
		"unknown stream": {func(b *wire.Batch) {
			*b = l.batch(1, slice.Record{Stream: "tags", Key: "x", Data: []byte(`{}`), EmittedAt: "2026-03-01T11:00:00Z"})
		}, 409,
			wire.CodeManifestMismatch},
		"unknown stream's bookmark": {func(b *wire.Batch) { b.State = map[string]jsontext.Value{"tags": jsontext.Value(`1`)} }, 409, wire.CodeManifestMismatch},
		"unknown stream's gap": {func(b *wire.Batch) { b.Gaps = []slice.Gap{{Stream: "tags", Reason: "vanished"}} }, 409,
			wire.CodeManifestMismatch},
		"a reason that is a text": {func(b *wire.Batch) {
			b.Gaps = []slice.Gap{{Stream: "notes",
				Reason: "/home/ann/x failed"}}
		}, 400, "invalid_request"},
		"ahead of its batch": {func(b *wire.Batch) { b.AfterBatchID = "batch-0" }, 409, wire.CodeCheckpointAhead},
	} {
		t.Run(name, func(t *testing.T) {
			l.t = t
			b := l.batch(1, note("a", ""))
			c.spoil(&b)
			l.wants(l.upload(b), c.status, c.code)
		})
	}
	l.t = t
	for _, body := range []string{``, `[]`, `{"records":[`, `{"records":{}}`, `nonsense`,
		`{"device_id":"` + l.DeviceID + `","batch_id":"b","batch_seq":1,"records":{}}`} {
		if got := l.send(http.MethodPost, "/"+l.DeviceID+"/ingest-batches", l.DeviceToken,
			[]byte(body)); got.status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", body, got.status, got.body)
		}
	}
	large := bytes.Repeat([]byte(" "), 20<<20+1)
	l.wants(l.send(http.MethodPost, "/"+l.DeviceID+"/ingest-batches", l.DeviceToken, large),
		http.StatusRequestEntityTooLarge, "body_too_large")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(large)
	w.Close()
	l.wants(l.send(http.MethodPost, "/"+l.DeviceID+"/ingest-batches", l.DeviceToken, packed.Bytes(), "Content-Encoding",
		"gzip"), http.StatusRequestEntityTooLarge, "body_too_large")
	l.equal(l.records("notes"), nil)
	runs, err := l.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: l.ConnectorInstanceID})
	if err != nil || len(runs) != 0 {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

// TestRejectedAlone verifies that the server rejects only the invalid records of a batch. Each one
// leaves a gap until a valid version arrives. A compressed batch of 3 MiB is accepted.
func TestRejectedAlone(t *testing.T) { onBoth(t, testRejectedAlone) }

func testRejectedAlone(t *testing.T) {
	l := newLaptop(t)
	b := l.batch(1, note("good", ""), note("odd", ""), slice.Record{Stream: "log", Key: "1", Op: protocol.OpDelete,
		EmittedAt: "2026-03-01T11:00:00Z"},
		slice.Record{Stream: "notes", Key: "list", Data: []byte(`[]`), EmittedAt: "2026-03-01T11:00:00Z"},
		note("large", fmt.Sprintf(`,"text":%q`, strings.Repeat("lorem ipsum ", 250_000))))
	b.Records[1].Key = "other"
	hash, err := wire.BodyHash(b.Records)
	if err != nil {
		t.Fatal(err)
	}
	b.BodyHash = hash
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(encode(t, b))
	w.Close()
	got := l.send(http.MethodPost, "/"+l.DeviceID+"/ingest-batches", l.DeviceToken, packed.Bytes(), "Content-Encoding",
		"gzip")
	l.wants(got, http.StatusCreated, "")
	result := decode[wire.BatchResult](t, got)
	want := []wire.Rejection{{Index: 1, Code: string(protocol.KeyMismatch)},
		{Index: 2, Code: string(protocol.TombstoneNotAllowed)}, {Index: 3, Code: string(protocol.InvalidField)}}
	if result.Accepted != 2 || result.Rejected != 3 || !slices.Equal(result.Rejections, want) {
		t.Errorf("answered %+v", result)
	}
	l.equal(l.records("notes"), []string{"good", "large"})
	l.equal(l.gaps(), []string{"log/1 record_rejected pending", "notes/list record_rejected pending",
		"notes/other record_rejected pending"})
	l.wants(l.upload(l.batch(2, note("other", ""))), http.StatusCreated, "")
	l.equal(l.gaps(), []string{"log/1 record_rejected pending", "notes/list record_rejected pending",
		"notes/other record_rejected recovered"})
}

// Bookmarks are merged by key, never pass what was received, and keep the server's own
// keys to itself.
func TestSourceState(t *testing.T) {
	l := newLaptop(t)
	put := func(m wire.StateUpdate) answer {
		return l.send(http.MethodPut, l.own("/state"), l.DeviceToken, encode(t, m))
	}
	read := func() wire.State {
		got := l.send(http.MethodGet, l.own("/state"), l.DeviceToken, nil)
		l.wants(got, http.StatusOK, "")
		return decode[wire.State](t, got)
	}
	state := read()
	if state.ConnectorInstanceID != l.ConnectorInstanceID || len(state.State) != 0 ||
		!slices.Contains(state.Capabilities, wire.CanBatchState) || state.Limits.BodyBytes != 20<<20 ||
		!state.ServerTime.Equal(noon) {
		t.Errorf("at first %+v", state)
	}
	l.wants(put(wire.StateUpdate{State: map[string]jsontext.Value{"notes": jsontext.Value(`{"n":1}`)},
		AfterBatchID: "batch-1"}), http.StatusConflict, wire.CodeCheckpointAhead)
	l.wants(l.upload(l.batch(7, note("a", ""))), http.StatusCreated, "")
	l.wants(put(wire.StateUpdate{State: map[string]jsontext.Value{"notes": jsontext.Value(`{"n":1}`),
		"$x": jsontext.Value(`1`)}, AfterBatchID: "batch-7"}), http.StatusOK, "")
	l.wants(put(wire.StateUpdate{State: map[string]jsontext.Value{"log": jsontext.Value(`{"n":2}`)}}), http.StatusOK, "")
	l.wants(put(wire.StateUpdate{State: map[string]jsontext.Value{"tags": jsontext.Value(`{"n":2}`)}}),
		http.StatusBadRequest, "invalid_request")
	l.wants(l.send(http.MethodPut, l.own("/state"), l.DeviceToken, []byte(`{}`)), http.StatusBadRequest, "invalid_request")
	l.wants(put(wire.StateUpdate{State: map[string]jsontext.Value{"notes#catch_up": jsontext.Value(`{"n":1}`),
		"log": jsontext.Value(`{"n":3}`)}}), http.StatusOK, "")
	l.wants(put(wire.StateUpdate{State: map[string]jsontext.Value{"notes#catch_up": jsontext.Value(`{"n":1}`)}}),
		http.StatusOK, "")
	if err := l.store.RequestDeletion(t.Context(), store.Deletion{ID: "d", DeletionScope: store.DeletionScope{
		Kind: store.DeleteStream, ConnectionID: l.ConnectorInstanceID, Stream: "log"}, BlocksReturn: true,
		AskedAt: noon, PurgeAfter: noon.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	state = read()
	if len(state.State) != 4 || string(state.State["notes"]) != `{"n":1}` || string(state.State["log"]) != `{"n":3}` ||
		state.MaxBatchSeq != 7 {
		t.Errorf("then %+v", state)
	}
	runs, err := l.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: l.ConnectorInstanceID})
	if err != nil || len(runs) != 1 || runs[0].Trigger != store.TriggerDevice {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

// A heartbeat is kept by our clock, as codes and counts; counts are there together or not
// at all.
func TestHeartbeats(t *testing.T) {
	l := newLaptop(t)
	beat := func(body string) answer {
		return l.send(http.MethodPost, "/"+l.DeviceID+"/heartbeat", l.DeviceToken, []byte(body))
	}
	about := fmt.Sprintf(`"source_instance_id":%q,"connector_id":"notes"`, l.SourceInstanceID)
	source := func() store.DeviceSource {
		s, err := l.store.DeviceSource(t.Context(), l.SourceInstanceID)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const counts = `"pending":3,"retrying":0,"leased":0,"stale_leases":0,"dead_letter":1,"succeeded":2,"total":6`
	for _, c := range []struct{ message, outbox, problem string }{
		{`"outbox":{` + counts + `,"path":"/home/ann","oldest_pending_at":"2026-03-01T11:10:00Z"},` +
			`"last_error":{"kind":"dead_letter_backlog","text":"/home/ann/x",` +
			`"top_dead_letter_classes":[{"error_class":"http_400","count":2},{"error_class":"failed at /home/ann","count":1}` +
			`,{"error_class":"x","count":0}]}`,
			`{"dead_letter":1,"leased":0,"oldest_pending_at":"2026-03-01T11:00:00Z","pending":3,"retrying":0,` +
				`"stale_leases":0,"succeeded":2,"total":6}`, `{"kind":"dead_letter_backlog","top_dead_letter_classes":[{"count"` +
				`:2,"error_class":"http_400"},{"count":0,"error_class":"x"}]}`},
		{`"outbox":{"pending":3}`, "", ""},
		{`"outbox":{` + counts + `,"backlog_open":-1}`, "", ""},
		{`"outbox":{` + strings.Replace(counts, `"total":6`, `"total":6.5`, 1) +
			`},"last_error":{"kind":"disk at /home/ann"}`, "", ""},
		{`"outbox":null,"last_error":null`, "", ""},
	} {
		l.wants(beat(`{`+about+`,"status":"retrying","agent_version":"1.4+abc",`+
			`"sent_at":"2026-03-01T12:10:00Z",`+c.message+`}`),
			http.StatusOK, "")
		s := source()
		if string(s.OutboxDiagnostics) != c.outbox || string(s.LastError) != c.problem || !s.LastHeartbeatAt.Equal(noon) ||
			s.ClockSkew == nil || *s.ClockSkew != 600 {
			t.Errorf("%s:\n%s %s at %v, skew %v", c.message, s.OutboxDiagnostics, s.LastError, s.LastHeartbeatAt, s.ClockSkew)
		}
	}
	l.wants(beat(`{`+about+`,"status":"fine"}`), http.StatusBadRequest, "invalid_request")
	l.wants(beat(`{"source_instance_id":"dsrc_none","connector_id":"notes","status":"healthy"}`), http.StatusBadRequest,
		wire.CodeSourceUnknown)
	l.wants(beat(`{"agent_version":"2","source_instances":[{`+about+`,"status":"healthy","records_pending":-4}]}`),
		http.StatusOK, "")
	device, err := l.store.Device(t.Context(), l.DeviceID)
	if err != nil || device.AgentVersion != "2" || source().LastHeartbeatStatus != "healthy" ||
		source().RecordsPending != nil {
		t.Errorf("%+v %+v, %v", device, source(), err)
	}
	for n := range 60 {
		if got := beat(`{` + about + `,"status":"healthy"}`); got.status == http.StatusTooManyRequests {
			if n < 45 || got.code != wire.CodeBusy || got.retryAfter == "" {
				t.Errorf("refused at %d: %+v", n, got)
			}
			l.pass(time.Minute)
			l.wants(beat(`{`+about+`,"status":"healthy"}`), http.StatusOK, "")
			return
		}
	}
	t.Error("no number of heartbeats is too many")
}

// TestTwoInstallationsAreNoticed verifies that a copied token is detected when two installations
// alternate, even if one sends no id. A computer that replaces another is not reported.
func TestTwoInstallationsAreNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		texts   []string
		doubled bool
	}{
		"one": {[]string{"inst_a", "inst_a", "inst_a"}, false}, "it moved": {[]string{"inst_a", "inst_b", "inst_b"}, false},
		"they take turns": {[]string{"inst_a", "inst_b", "inst_a"}, true},
		"one is silent":   {[]string{"inst_a", "", "inst_a"}, true}, "none says anything": {[]string{"", "", ""}, false},
	} {
		l := newLaptop(t)
		for _, text := range c.texts {
			body := fmt.Sprintf(`{"source_instance_id":%q,"connector_id":"notes","status":"healthy","installation_id":%q}`,
				l.SourceInstanceID, text)
			l.wants(l.send(http.MethodPost, "/"+l.DeviceID+"/heartbeat", l.DeviceToken, []byte(body)), http.StatusOK, "")
			l.pass(time.Minute)
		}
		d, err := l.store.Device(t.Context(), l.DeviceID)
		if err != nil || (d.DoubledAt != nil) != c.doubled {
			t.Errorf("%s: %v, %v", name, d.DoubledAt, err)
		}
	}
}

// TestRequestedRun verifies that heartbeat answers carry the owner's run request until a pass begins.
// That pass counts as a run even if it finds nothing.
func TestRequestedRun(t *testing.T) {
	l := newLaptop(t)
	beat := func(status string) bool {
		t.Helper()
		got := l.send(http.MethodPost, "/"+l.DeviceID+"/heartbeat", l.DeviceToken,
			encode(t, wire.Heartbeat{SourceInstanceID: l.SourceInstanceID, ConnectorID: "notes", Status: status}))
		l.wants(got, http.StatusOK, "")
		return decode[wire.HeartbeatAnswer](t, got).RequestedRun
	}
	if beat(wire.StatusHealthy) {
		t.Error("a run nobody asked for")
	}
	if _, err := l.store.RequestRun(t.Context(),
		store.RunRequest{ConnectionID: l.ConnectorInstanceID, Trigger: store.TriggerManual, RequestedAt: noon}); err != nil {
		t.Fatal(err)
	}
	if !beat(wire.StatusHealthy) || !beat(wire.StatusStopped) {
		t.Error("the owner's wish is not told")
	}
	if beat(wire.StatusStarting) || beat(wire.StatusHealthy) {
		t.Error("the wish is told although the pass began")
	}
	runs, err := l.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: l.ConnectorInstanceID})
	if err != nil || len(runs) != 1 || runs[0].Status != store.RunSucceeded {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

// TestCollectorGaps verifies that repeated reports of a collector's gap create one row, and that a
// recovery closes it.
func TestCollectorGaps(t *testing.T) {
	l := newLaptop(t)
	report := func(change func(*wire.Gap)) answer {
		g := wire.Gap{SourceInstanceID: l.SourceInstanceID, ConnectorID: "notes", Reason: wire.GapPolicyBudget,
			FirstSeenAt: noon, Retryable: true, NextAttemptBackoffMS: 900_000, Stream: "notes"}
		change(&g)
		return l.send(http.MethodPost, l.own("/local-collector-gaps"), l.DeviceToken, encode(t, g))
	}
	same := func(*wire.Gap) {}
	first := report(same)
	l.wants(first, http.StatusCreated, "")
	if again := report(same); again.body != first.body {
		t.Errorf("again %s, first %s", again.body, first.body)
	}
	l.wants(report(func(g *wire.Gap) { g.Stream = "tags" }), http.StatusBadRequest, "invalid_request")
	l.wants(report(func(g *wire.Gap) { g.Reason = "free text" }), http.StatusBadRequest, "invalid_request")
	l.wants(report(func(g *wire.Gap) { g.SourceInstanceID = "dsrc_none" }), http.StatusBadRequest, "invalid_request")
	l.wants(report(func(g *wire.Gap) { g.Reason, g.Stream = wire.GapConnectorChildFailure, "" }), http.StatusCreated, "")
	l.equal(l.gaps(), []string{"*/ connector_child_failure pending", "notes/ policy_budget pending"})
	runs, err := l.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: l.ConnectorInstanceID})
	if err != nil || len(runs) != 1 || runs[0].Status != store.RunFailed ||
		runs[0].FailureReason != wire.GapConnectorChildFailure {
		t.Errorf("runs %+v, %v", runs, err)
	}
	l.wants(report(func(g *wire.Gap) { g.ConnectorID = "mail" }), http.StatusBadRequest, "invalid_request")
	l.wants(report(func(g *wire.Gap) { g.StreamBoundary = strings.Repeat("b", 201) }), http.StatusBadRequest,
		"invalid_request")
	l.wants(report(func(g *wire.Gap) { g.StreamBoundary, g.NextAttemptBackoffMS = strings.Repeat("b", 200), 1<<40 }),
		http.StatusCreated, "")
	for range 2 {
		got := l.send(http.MethodPost, l.own("/local-collector-gaps/recovered"), l.DeviceToken,
			encode(t, wire.GapRecovered{SourceInstanceID: l.SourceInstanceID, ConnectorID: "notes",
				Reason: wire.GapConnectorChildFailure}))
		l.wants(got, http.StatusOK, "")
	}
	l.equal(l.gaps(), []string{"*/ connector_child_failure recovered", "notes/ policy_budget pending",
		"notes/ policy_budget pending"})

	b := l.batch(1)
	b.Gaps = []slice.Gap{{Stream: "notes", RecordKey: "x", Reason: "unreadable", Retryable: true},
		{Stream: "notes", RecordKey: "y", Reason: "line_too_long"}}
	l.wants(l.upload(b), http.StatusCreated, "")
	leased := decode[wire.LeasedGaps](t, l.send(http.MethodGet, l.own("/gaps?limit=10"), l.DeviceToken, nil))
	if len(leased.Data) != 1 || leased.Data[0].RecordKey != "x" ||
		!leased.Data[0].LeaseExpiresAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("leased %+v", leased)
	}
	l.wants(l.send(http.MethodGet, l.own("/gaps?limit=none"), l.DeviceToken, nil), http.StatusBadRequest,
		"invalid_request")
	b = l.batch(2, note("x", ""))
	b.RecoveredGaps = []wire.GapIdentity{{Stream: "notes", RecordKey: "x"}}
	l.wants(l.upload(b), http.StatusCreated, "")
	l.equal(l.gaps(), []string{"*/ connector_child_failure recovered", "notes/ policy_budget pending",
		"notes/ policy_budget pending", "notes/x unreadable recovered", "notes/y line_too_long terminal"})
	for _, limit := range []string{"0", "-1", "1", "501"} {
		got := l.send(http.MethodGet, l.own("/gaps?limit="+limit), l.DeviceToken, nil)
		if want := limit == "1" || limit == "501"; (got.status == http.StatusOK) != want {
			t.Errorf("a limit of %s: %d %s", limit, got.status, got.body)
		}
	}
}

// The end of a pass is committed once, with its hash, its bookmarks and its facts.
func TestTerminalCommits(t *testing.T) {
	l := newLaptop(t)
	scoped := false
	m := wire.TerminalCommit{Version: 1, CommitID: "c1", RunID: "theirs", DeviceID: l.DeviceID,
		SourceInstanceID: l.SourceInstanceID, ConnectorID: "notes", ConnectorInstanceID: l.ConnectorInstanceID,
		CollectionBoundary: jsontext.Value(`"unscoped"`),
		StateDelta:         map[string]jsontext.Value{"notes": jsontext.Value(`{"10":1,"2":2}`)},
		TerminalFacts: []wire.TerminalFact{{Stream: "notes", CoverageStatuses: []string{"collected", "unaccounted"},
			Scoped: &scoped}}}
	commit := func(m wire.TerminalCommit) answer {
		return l.send(http.MethodPost, l.own("/terminal-run-commits"), l.DeviceToken, encode(t, m))
	}
	first := commit(m)
	l.wants(first, http.StatusCreated, "")
	hash, err := wire.EnvelopeHash(&m)
	if err != nil {
		t.Fatal(err)
	}
	if got := decode[wire.TerminalCommitted](t, first); got.CommitID != "c1" || got.RunID != "theirs" ||
		got.EnvelopeHash != hash || got.TerminalEventID == "" {
		t.Errorf("answered %+v", got)
	}
	if again := commit(m); again.status != http.StatusOK || again.body != first.body {
		t.Errorf("again %d %s", again.status, again.body)
	}
	compressed := func(content []byte) answer {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(content); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return l.send(http.MethodPost, l.own("/terminal-run-commits"), l.DeviceToken, packed.Bytes(),
			"Content-Encoding", "gzip")
	}
	if again := compressed(encode(t, m)); again.status != http.StatusOK || again.body != first.body {
		t.Errorf("again, compressed: %d %s", again.status, again.body)
	}
	bomb := compressed(append(encode(t, m), make([]byte, 16<<20)...))
	l.wants(bomb, http.StatusRequestEntityTooLarge, "body_too_large")
	other := m
	other.StateDelta = map[string]jsontext.Value{"notes": jsontext.Value(`{}`)}
	l.wants(commit(other), http.StatusConflict, wire.CodeCommitConflict)
	for name, spoil := range map[string]func(*wire.TerminalCommit){
		"version":     func(m *wire.TerminalCommit) { m.Version = 2 },
		"no id":       func(m *wire.TerminalCommit) { m.CommitID = "" },
		"long id":     func(m *wire.TerminalCommit) { m.CommitID = strings.Repeat("c", 201) },
		"no run":      func(m *wire.TerminalCommit) { m.RunID = "" },
		"long run":    func(m *wire.TerminalCommit) { m.RunID = strings.Repeat("r", 201) },
		"device":      func(m *wire.TerminalCommit) { m.DeviceID = "dexp_none" },
		"connector":   func(m *wire.TerminalCommit) { m.ConnectorID = "mail" },
		"source":      func(m *wire.TerminalCommit) { m.SourceInstanceID = "dsrc_none" },
		"connection":  func(m *wire.TerminalCommit) { m.ConnectorInstanceID = "cin_none" },
		"stream":      func(m *wire.TerminalCommit) { m.TerminalFacts[0].Stream = "tags" },
		"no statuses": func(m *wire.TerminalCommit) { m.TerminalFacts[0].CoverageStatuses = nil },
		"state":       func(m *wire.TerminalCommit) { m.StateDelta = map[string]jsontext.Value{"tags": jsontext.Value(`1`)} },
		"drift": func(m *wire.TerminalCommit) {
			m.TerminalFacts[0].AnswerDrift = &protocol.AnswerDrift{Differences: []protocol.AnswerDifference{
				{Kind: protocol.NewMember, Member: "mara@example.org", Count: 1}}}
		},
	} {
		bad := m
		bad.CommitID, bad.TerminalFacts = "c2", slices.Clone(m.TerminalFacts)
		spoil(&bad)
		t.Log(name)
		l.wants(commit(bad), http.StatusBadRequest, "invalid_request")
	}
	runs, err := l.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: l.ConnectorInstanceID})
	if err != nil || len(runs) != 1 || runs[0].Status != store.RunSucceeded ||
		!strings.Contains(string(runs[0].Facts), `"considered":2,"covered":1`) {
		t.Errorf("runs %+v, %v", runs, err)
	}
	stateless := bytes.Replace(encode(t, m), []byte(`"state_delta"`), []byte(`"state"`), 1)
	l.wants(l.send(http.MethodPost, l.own("/terminal-run-commits"), l.DeviceToken, stateless), http.StatusBadRequest,
		"invalid_request")
	longest := m
	longest.CommitID, longest.RunID = strings.Repeat("c", 200), strings.Repeat("r", 200)
	l.wants(commit(longest), http.StatusCreated, "")
	for _, ids := range [][3]string{{"dsrc_none", "notes", "older"}, {l.SourceInstanceID, "mail", "older"},
		{l.SourceInstanceID, "notes", ""}, {l.SourceInstanceID, "notes", strings.Repeat("r", 201)}} {
		body := fmt.Appendf(nil, `{"source_instance_id":%q,"connector_id":%q,"run_id":%q}`, ids[0], ids[1], ids[2])
		l.wants(l.send(http.MethodPost, l.own("/terminal-collection"), l.DeviceToken, body), http.StatusBadRequest,
			"invalid_request")
	}
	report := fmt.Sprintf(`{"source_instance_id":%q,"connector_id":"notes","run_id":"older",`+
		`"streams":[{"stream":"notes","coverage_statuses":["collected"]}]}`, l.SourceInstanceID)
	for range 2 {
		got := l.send(http.MethodPost, l.own("/terminal-collection"), l.DeviceToken, []byte(report))
		l.wants(got, http.StatusCreated, "")
		if strings.TrimSpace(got.body) != `{"ok":true}` {
			t.Errorf("answered %s", got.body)
		}
	}
	runs, err = l.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: l.ConnectorInstanceID})
	// the same run goes on
	if err != nil || len(runs) != 1 || !strings.Contains(string(runs[0].Facts), `"considered":1,"covered":1`) {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

// TestForeignRecords checks that records of a connector that is not built in are checked against its schemas, may
// have a key of their own, and that records from before the owner's limit are not collected and not missing.
func TestForeignRecords(t *testing.T) {
	b := newBed(t)
	b.config.Connectors = catalog.Fixed(catalog.Connector{Name: "notes", Manifest: &manifest.Manifest{
		ConnectorKey: "notes", DisplayName: "Notes", Streams: []manifest.Stream{{
			Name: "notes", Semantics: manifest.MutableState, PrimaryKey: []string{"id"}, ConsentTimeField: "at",
			Schema: []byte(`{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"}}}`)}}}})
	b.mount()
	l := laptop{b, b.enrol(b.code("home", `{"since":"2026-02-01T00:00:00Z"}`), "")}
	named := note("own", `,"at":"2026-02-01T00:00:00Z"`)
	named.Key = "another"
	l.wants(l.upload(l.batch(1, note("a", `,"at":"2026-03-01T00:00:00Z","text":1`), named,
		note("old", `,"at":"2026-01-31T23:59:59Z"`))), http.StatusCreated, "")
}

// TestMemoryIsReleased sends more bodies that cannot be read than fit into memory at once.
func TestMemoryIsReleased(t *testing.T) {
	l := newLaptop(t)
	noise := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	packed := func(content []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(content)
		_ = w.Close()
		return out.Bytes()
	}
	whole := packed(noise)
	for _, body := range [][]byte{noise, whole[:len(whole)-9], whole} { // no header, no end, no JSON
		for range 6 {
			l.wants(l.send(http.MethodPost, "/"+l.DeviceID+"/ingest-batches", l.DeviceToken, body, "Content-Encoding", "gzip"),
				http.StatusBadRequest, "invalid_request")
		}
	}
}

// heldStore blocks commits until goOn delivers a value or is closed.
type heldStore struct {
	store.Store
	began chan struct{}
	goOn  chan struct{}
}

func (h *heldStore) CommitUpload(ctx context.Context, u store.Upload, now time.Time) (store.Committed, error) {
	h.began <- struct{}{}
	select {
	case <-h.goOn:
	case <-ctx.Done():
	}
	return h.Store.CommitUpload(ctx, u, now)
}

// TestBackPressure verifies that an upload the server cannot accept now gets a retryable error, and
// that no data is lost.
func TestBackPressure(t *testing.T) {
	l := newLaptop(t)
	full := true
	l.config.FreeSpace = func() (uint64, uint64, bool) { return 500 << 20, 100 << 30, full }
	l.mount()
	got := l.upload(l.batch(1, note("a", "")))
	l.wants(got, http.StatusServiceUnavailable, wire.CodeIngestRetryable)
	if got.retryAfter != "60" {
		t.Errorf("come back after %s", got.retryAfter)
	}
	full = false
	l.pass(time.Minute)
	l.wants(l.upload(l.batch(1, note("a", ""))), http.StatusCreated, "")
	ending := make(chan struct{})
	l.config.FreeSpace, l.config.Ending = nil, ending
	close(ending)
	l.mount()
	l.wants(l.upload(l.batch(2, note("b", ""))), http.StatusServiceUnavailable, wire.CodeIngestRetryable)

	held := &heldStore{Store: l.store, began: make(chan struct{}, 8), goOn: make(chan struct{})}
	l.config.Ending, l.config.Store = nil, held
	l.mount()
	others := make([]laptop, 4)
	for n := range others {
		others[n] = laptop{l.bed, l.enrol(l.code(fmt.Sprint("other", n), ""), "")}
	}
	answers := make(chan answer, len(others))
	for _, o := range others {
		b := o.batch(1, note("x", ""))
		go func() { answers <- o.upload(b) }()
		<-held.began
	}
	// four are in work
	l.wants(l.upload(l.batch(3, note("c", ""))), http.StatusServiceUnavailable, wire.CodeIngestRetryable)
	close(held.goOn)
	for range others {
		l.wants(<-answers, http.StatusCreated, "")
	}
	l.wants(l.upload(l.batch(3, note("c", ""))), http.StatusCreated, "")
	l.equal(l.records("notes"), []string{"a", "c"})
}
