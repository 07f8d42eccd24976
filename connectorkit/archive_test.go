package connectorkit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

const testManifest = `{
  "protocol_version": "0.1.0", "connector_id": "archive", "version": "1", "display_name": "Archive",
  "runtime_requirements": {"bindings": {"network": {"required": true}, "interactive": {}}},
  "streams": [
    {"name": "log", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id", "consent_time_field": "at",
     "schema": {"type": "object", "properties": {"id": {"type": "string"}, "at": {"type": "string"},` +
	` "text": {"type": "string"}}, "required": ["id"], "additionalProperties": false}},
    {"name": "notes", "semantics": "mutable_state", "checkpoint": "slice", "primary_key": ["box", "id"],
     "schema": {"type": "object", "properties": {"box": {"type": "string"}, "id": {"type": "integer"},` +
	` "text": {"type": "string"}}, "required": ["box", "id"]}},
    {"name": "threads", "semantics": "mutable_state", "checkpoint": "slice", "primary_key": "id",` +
	` "consent_time_field": "at",
     "schema": {"type": "object", "properties": {"id": {"type": "string"}, "at": {"type": "string"}},` +
	` "required": ["id"]}},
    {"name": "messages", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id",
     "coverage_strategy": "parent_detail_accounting", "parent_streams": ["threads"],
     "schema": {"type": "object", "properties": {"id": {"type": "string"}, "thread": {"type": "string"},` +
	` "version": {"type": "integer"}}, "required": ["id", "thread"]}}
  ]
}`

// laneScope asks only for the lane.
var laneScope = []protocol.StreamScope{{Name: "threads"}, {Name: "messages"}}

// collecting is a connector of the test manifest with these collectors.
func collecting(t tb, collectors ...Collector) Connector {
	t.Helper()
	return withManifest(t, testManifest, func(context.Context, *Setup) ([]Collector, error) { return collectors, nil })
}

func withManifest(t tb, manifest string, open func(context.Context, *Setup) ([]Collector, error)) Connector {
	t.Helper()
	c, err := New([]byte(manifest), open)
	if err != nil {
		t.Fatalf("test manifest: %v", err)
	}
	return c
}

// thing is one thread of the archive.
type thing struct {
	key     string
	at      time.Time
	version int
}

// archive is a provider in memory with all threads known. A thread has two
// messages, which carry its version.
type archive struct {
	things   []thing
	pageSize int
	// fetch and list may refuse the n-th call (from 1), over all runs.
	fetch         func(n int, key string) error
	list          func(n int) error
	fetches       []string
	lists         []Window
	ignoresBounds bool
}

var epoch = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// newArchive holds n threads, one second apart; thread 1 is the oldest.
func newArchive(n, pageSize int) *archive {
	a := &archive{pageSize: pageSize}
	for i := range n {
		a.add(epoch.Add(time.Duration(i) * time.Second))
	}
	return a
}

// add makes a thread at that time.
func (a *archive) add(at time.Time) string {
	key := fmt.Sprintf("t%04d", len(a.things)+1)
	a.things = append(a.things, thing{key: key, at: at})
	return key
}

// touch changes the i-th thread.
func (a *archive) touch(i int, at time.Time) {
	a.things[i].at = at
	a.things[i].version++
}

func (a *archive) lane() ListDetail {
	return ListDetail{List: "threads", Detail: "messages", ListPage: a.listPage, Fetch: a.fetchThread}
}

func newestFirst(x, y thing) int { return cmp.Or(y.at.Compare(x.at), strings.Compare(y.key, x.key)) }

// listPage pages by the last thing delivered, so that a list that changes
// between pages behaves like a real one.
func (a *archive) listPage(_ context.Context, w Window) (ListPage, error) {
	a.lists = append(a.lists, w)
	if a.list != nil {
		if err := a.list(len(a.lists)); err != nil {
			return ListPage{}, err
		}
	}
	sorted := slices.SortedFunc(slices.Values(a.things), newestFirst)
	var page ListPage
	for _, x := range sorted {
		in := a.ignoresBounds || (w.Before.IsZero() || !x.at.After(w.Before)) && !x.at.Before(w.After)
		if !in || w.Token != "" && newestFirst(token(w.Token), x) >= 0 {
			continue
		}
		if len(page.Items) == a.pageSize {
			last := page.Items[len(page.Items)-1]
			page.Next = last.Time.Format(time.RFC3339Nano) + " " + last.Key
			break
		}
		page.Items = append(page.Items, Item{
			Key: x.key, Time: x.at, Record: Upsert(map[string]any{"id": x.key, "at": x.at.Format(time.RFC3339Nano)}),
		})
	}
	return page, nil
}

func token(s string) thing {
	at, key, _ := strings.Cut(s, " ")
	t, _ := time.Parse(time.RFC3339Nano, at)
	return thing{key: key, at: t}
}

func (a *archive) fetchThread(_ context.Context, item Item) ([]Record, error) {
	a.fetches = append(a.fetches, item.Key)
	if a.fetch != nil {
		if err := a.fetch(len(a.fetches), item.Key); err != nil {
			return nil, err
		}
	}
	i := slices.IndexFunc(a.things, func(x thing) bool { return x.key == item.Key })
	if i < 0 {
		return nil, &Error{Class: Gone, Status: 410}
	}
	return []Record{Upsert(a.message(i, 0)), Upsert(a.message(i, 1))}, nil
}

func (a *archive) message(i, n int) map[string]any {
	x := a.things[i]
	return map[string]any{"id": fmt.Sprintf("%s/%d", x.key, n), "thread": x.key, "version": x.version}
}

// keys returns the keys of all threads, newest first.
func (a *archive) keys() []string {
	var out []string
	for _, x := range slices.SortedFunc(slices.Values(a.things), newestFirst) {
		out = append(out, x.key)
	}
	return out
}

// complete fails the test unless the vault holds the whole archive in its
// current form and nothing waits.
func (a *archive) complete(t tb, v *vault) {
	t.Helper()
	if open := v.pendingGaps(); len(open) > 0 {
		t.Fatalf("%d gaps are left: %q", len(open), open)
	}
	for i, x := range a.things {
		if !a.holds(v, i) {
			t.Fatalf("thread %s at %s is not stored in its current form", x.key, x.at)
		}
	}
}

// holds reports whether the vault has the i-th thread and both messages.
func (a *archive) holds(v *vault, i int) bool {
	x := a.things[i]
	want := fmt.Sprintf(`"version":%d}`, x.version)
	return strings.Contains(v.records["threads"][x.key], x.at.Format(time.RFC3339Nano)) &&
		strings.Contains(v.records["messages"][x.key+"/0"], want) && strings.Contains(v.records["messages"][x.key+"/1"], want)
}

// capped are the variables of a run with caps; zero leaves one out, negative
// spells an explicit zero.
func capped(fetches, chunk int) map[string]string {
	env := map[string]string{}
	for name, n := range map[string]int{
		"PDPP_ARCHIVE_MAX_DETAIL_FETCHES_PER_RUN": fetches, "PDPP_ARCHIVE_MAX_TAIL_DEFERRAL_GAPS_PER_RUN": chunk,
	} {
		if n != 0 {
			env[name] = fmt.Sprint(max(n, 0))
		}
	}
	return env
}
