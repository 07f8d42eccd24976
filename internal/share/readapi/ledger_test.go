package readapi_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// ledger is a connector with a list, the details of its items and the people they name.
const ledger = `{
 "protocol_version":"0.1.0","connector_id":"ledger","version":"1.0.0","display_name":"Ledger",
 "capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"Reads what is new.",` +
	`"recommended_interval_seconds":3600,
  "minimum_interval_seconds":300,"maximum_staleness_seconds":86400,"interaction_posture":"none",` +
	`"background_safe":true}},
 "streams":[
  {"name":"entries","semantics":"mutable_state","primary_key":"id","consent_time_field":"at","cursor_field":"at",` +
	`"coverage_strategy":"checkpoint_window","checkpoint":"slice",
   "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"at":{"type":"string",` +
	`"format":"date-time"},"text":{"type":"string"},"secret":{"type":"string"},"person_id":{"type":"string"}}},
   "query":{"search":["text"],"filter":["person_id"],"range_filters":{"at":["gt","gte","lt","lte"]},` +
	`"aggregations":{"count":true,"group_by":["text"]},
    "expand":[{"name":"person"},{"name":"pages","default_limit":3,"max_limit":5}]},
   "relationships":[{"name":"person","stream":"people","foreign_key":"person_id","cardinality":"has_one"},
    {"name":"pages","stream":"pages","foreign_key":"entry_id","cardinality":"has_many"},
    {"name":"hushed","stream":"pages","foreign_key":"entry_id","cardinality":"has_many"}]},
  {"name":"pages","semantics":"mutable_state","primary_key":"id","consent_time_field":"at",` +
	`"coverage_strategy":"parent_detail_accounting","parent_streams":["entries"],
   "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"entry_id":{"type":"string"},` +
	`"at":{"type":"string","format":"date-time"},"body":{"type":"string"}}},
   "relationships":[{"name":"entry","stream":"entries","foreign_key":"entry_id","cardinality":"has_one"}],
   "query":{"expand":[{"name":"entry"}],"range_filters":{"at":["gte","lt"]}}},
  {"name":"people","semantics":"mutable_state","primary_key":"id",
   "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"name":{"type":"string"},` +
	`"phone":{"type":"string"}}}}]}`

// book is a connection to the ledger.
type book struct {
	*world
	id   string
	runs int
}

func (w *world) book(id string) *book {
	w.t.Helper()
	_, err := w.store.PutManifest(w.ctx(), "ledger", []byte(ledger), noon)
	check(w.t, err)
	check(w.t, w.store.CreateConnection(w.ctx(), store.Connection{
		ID: id, ConnectorID: "ledger", DisplayName: "Ledger", Status: store.ConnectionActive, SourceKind: store.SourceAccount,
		ManifestGeneration: 1, CreatedAt: noon, UpdatedAt: noon,
	}))
	return &book{world: w, id: id}
}

func (b *book) start(at time.Time) store.Lease {
	b.t.Helper()
	b.runs++
	l, err := b.store.StartRun(b.ctx(), store.RunStart{
		RunID: fmt.Sprintf("run_%s_%d", b.id, b.runs), ConnectionID: b.id, ConnectorID: "ledger",
		Trigger: store.TriggerManual, Holder: "test", TTL: time.Hour,
		Streams: []store.StreamSpec{{Name: "entries", TimeField: "at", SearchFields: []string{"text"}},
			{Name: "pages", TimeField: "at"}, {Name: "people"}},
	}, at)
	check(b.t, err)
	return l
}

func (b *book) commit(l store.Lease, s slice.Slice, at time.Time) {
	b.t.Helper()
	_, err := b.store.CommitSlice(b.ctx(), l, s, at)
	check(b.t, err)
}

// fact is what a run reports about a stream.
type fact struct {
	Stream     string         `json:"stream"`
	Considered *int           `json:"considered,omitempty"`
	Covered    *int           `json:"covered,omitempty"`
	Checkpoint string         `json:"checkpoint"`
	Skipped    map[string]any `json:"skipped"`
	Scope      map[string]any `json:"collection_scope,omitempty"`
}

func (b *book) end(l store.Lease, status store.RunStatus, at time.Time, facts ...fact) {
	b.t.Helper()
	body, err := json.Marshal(map[string]any{"streams": facts})
	check(b.t, err)
	if facts == nil {
		body = nil
	}
	check(b.t, b.store.FinishRun(b.ctx(), l,
		store.RunOutcome{Status: status, Facts: body, Event: slice.Event{Type: "run.completed"}}, at))
}

// whole reads everything in one run that has nothing to hide.
func (b *book) whole(at time.Time, records ...slice.Record) {
	b.t.Helper()
	l := b.start(at)
	b.commit(l, slice.Slice{Records: records}, at)
	b.end(l, store.RunSucceeded, at.Add(time.Minute), fact{Stream: "entries", Checkpoint: "committed"},
		fact{Stream: "pages", Checkpoint: "committed"}, fact{Stream: "people", Checkpoint: "committed"})
}

func made(stream, key string, at time.Time, members map[string]any) slice.Record {
	data := map[string]any{"id": key}
	r := slice.Record{Stream: stream, Key: key, EmittedAt: "2026-04-01T12:00:00Z"}
	if !at.IsZero() {
		data["at"], r.SemanticTime = at.UTC().Format(time.RFC3339Nano), at.UTC().Format(protocol.StoredTime)
	}
	for k, v := range members {
		data[k] = v
	}
	r.Data, _ = json.Marshal(data)
	return r
}

func backlog(before, floor time.Time) slice.Gap {
	locator, _ := json.Marshal(map[string]any{"kind": "ledger.entries_backlog", "before": before, "floor": floor})
	return slice.Gap{Stream: "pages", ParentStream: "entries", RecordKey: "__entries_backlog__:" + before.String() + ":" +
		floor.String(), Reason: protocol.ReasonRunCapDeferred, Retryable: true, Locator: locator}
}

func itemGap(stream, key string) slice.Gap {
	return slice.Gap{Stream: stream, RecordKey: key, Reason: protocol.ReasonRetryExhausted, Retryable: true,
		Locator: jsontext.Value(`{"id":"` + key + `"}`)}
}

// completion is what an answer reports about one stream.
type completion struct {
	Connection string `json:"connection_id"`
	Stream     string
	AsOf       *time.Time `json:"as_of"`
	Freshness  string
	Range      timespan
	Whole      string
	Covered    []timespan
}

type timespan struct{ From, To *time.Time }

func (s timespan) holds(t time.Time) bool {
	return (s.From == nil || !t.Before(*s.From)) && (s.To == nil || t.Before(*s.To))
}

// measureCompleteness returns the completion of an answer's first stream.
func (a answer) told(t testing.TB) completion {
	t.Helper()
	var body struct{ Completeness []completion }
	if a.status != 200 {
		t.Fatalf("answered %d: %s", a.status, a.body)
	}
	check(t, json.Unmarshal([]byte(a.body), &body))
	if len(body.Completeness) == 0 {
		t.Fatalf("nothing is told: %s", a.body)
	}
	return body.Completeness[0]
}

func (b *book) scope(stream string) grants.Stream {
	return grants.Stream{ConnectionID: b.id, Stream: stream}
}

func months(s grants.Stream, from, to time.Month) grants.Stream {
	if from != 0 {
		s.Since = ptr(time.Date(2026, from, 1, 0, 0, 0, 0, time.UTC))
	}
	if to != 0 {
		s.Until = ptr(time.Date(2026, to, 1, 0, 0, 0, 0, time.UTC))
	}
	return s
}
