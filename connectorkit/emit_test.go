package connectorkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// pages is a flat stream with these pages; the cursor is the page's number.
func pages(stream string, pages ...[]Record) PagedStream {
	return PagedStream{Stream: stream, Page: func(_ context.Context, at Cursor) (Page, error) {
		n := 0
		_, _ = fmt.Sscan(at["page"], &n)
		if n >= len(pages) {
			return Page{Next: at}, nil
		}
		return Page{Records: pages[n], Next: Cursor{"page": fmt.Sprint(n + 1)}, More: n+1 < len(pages)}, nil
	}}
}

func only(names ...string) []protocol.StreamScope {
	var out []protocol.StreamScope
	for _, name := range names {
		out = append(out, protocol.StreamScope{Name: name})
	}
	return out
}

type row struct {
	ID   string `json:"id,omitzero"`
	At   string `json:"at,omitzero"`
	Text string `json:"text,omitzero"`
}

func TestMutableStreamDeletes(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-07.1")
	v := newVault()
	c := collecting(t, pages("notes",
		[]Record{Upsert(map[string]any{"box": "in", "id": 1, "text": "x"})},
		[]Record{Delete(protocol.CompoundKey("in", "1"))},
	))
	r := succeeded(t, v.run(t, c, options{scope: only("notes")}))
	records := all[*protocol.Record](r)
	last := records[len(records)-1]
	if last.Stream != "notes" || last.Key != `["in","1"]` || last.Op != protocol.OpDelete || last.Data != nil {
		t.Errorf("tombstone %+v", last)
	}
	if records[0].Key != last.Key {
		t.Errorf("the record has the key %s, its tombstone %s", records[0].Key, last.Key)
	}
}

func TestAppendOnlyStreamRefusesDeletion(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-07.2")
	for name, c := range map[string]Connector{
		"flat":   collecting(t, pages("log", []Record{Upsert(row{ID: "a"}), Delete("a")})),
		"detail": collecting(t, deletingLane()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newVault().run(t, c, options{scope: only("log", "threads", "messages")})
			for _, rec := range all[*protocol.Record](r) {
				if rec.Op == protocol.OpDelete {
					t.Errorf("a tombstone of %s was sent", rec.Stream)
				}
			}
			if r.done.Error == nil || r.done.Error.Code != string(protocol.TombstoneNotAllowed) {
				t.Errorf("ended as %s", describe(r))
			}
		})
	}
}

func deletingLane() ListDetail {
	l := newArchive(1, 1).lane()
	l.Fetch = func(context.Context, Item) ([]Record, error) { return []Record{Delete("t0001/0")}, nil }
	return l
}

// TestMismatchIsDeclaredBeforeTheCursorPasses shows that a record without its
// declared shape is not sent, and that the slice which passes it declares that first.
func TestMismatchIsDeclaredBeforeTheCursorPasses(t *testing.T) {
	t.Parallel()
	const secret = "do-not-tell"
	v := newVault()
	c := collecting(t, pages(
		"log",
		[]Record{
			Upsert(row{ID: "a"}),
			Upsert(map[string]any{"id": "b", "text": 5}),
			Upsert(map[string]any{"id": "c", secret: secret}),
		},
		[]Record{Upsert(row{ID: "d"}), Unreadable("e", errors.New(secret)), Upsert(row{Text: secret})},
		[]Record{
			Upsert(jsontext.Value(`[1]`)),
			Upsert(jsontext.Value(`{"id":"g"} 1`)),
			Upsert(func() {}),
			Upsert(nil),
			Delete(""),
			Upsert(row{ID: "f"}),
		},
	))
	r := succeeded(t, v.run(t, c, options{scope: only("log")}))
	if got := slices.Sorted(maps.Keys(v.records["log"])); !slices.Equal(got, []string{"a", "d", "f"}) {
		t.Errorf("stored %q", got)
	}
	var texts []string
	for _, m := range r.messages {
		switch m := m.(type) {
		case *protocol.SkipResult:
			texts = append(texts, string(m.Reason), strings.Join(m.ResourceIDs, "+"))
			if m.RecoveryHint.Action != protocol.RetryOnConnectorUpgrade || m.Stream != "log" {
				t.Errorf("skip %+v", m)
			}
		case *protocol.State:
			texts = append(texts, "STATE")
		}
	}
	want := []string{"schema_mismatch", "b+c", "STATE", "schema_mismatch", "e", "STATE", "schema_mismatch", "", "STATE"}
	if !slices.Equal(texts, want) {
		t.Errorf("reported %q, want %q", texts, want)
	}
	out := transcript(t, r)
	if strings.Contains(out, secret) {
		t.Error("content of a record reached a message")
	}
	for _, path := range []string{"/properties/text/type", "/additionalProperties", "/required", "decode", "encode",
		"record", "/primary_key"} {
		if !strings.Contains(out, `"`+path+`"`) {
			t.Errorf("the place %s is not named", path)
		}
	}
}

// TestMismatchReportsAreBounded counts what exceeds the limit and reports the sum.
func TestMismatchReportsAreBounded(t *testing.T) {
	t.Parallel()
	var bad [][]Record
	for range runstate.MaxMismatchReports + 30 {
		bad = append(bad, []Record{Upsert(map[string]any{"id": 1}), Upsert(map[string]any{"id": 2})})
	}
	r := succeeded(t, newVault().run(t, collecting(t, pages("log", bad...)), options{scope: only("log")}))
	skips := all[*protocol.SkipResult](r)
	if len(skips) != runstate.MaxMismatchReports+1 {
		t.Fatalf("%d reports", len(skips))
	}
	if last := *skips[len(skips)-1].Message; !strings.HasPrefix(last, "60 more") {
		t.Errorf("the sum reads %q", last)
	}
}

// TestDetailMismatchIsAGap shows that an item with a malformed detail keeps its
// good records and stays open.
func TestDetailMismatchIsAGap(t *testing.T) {
	t.Parallel()
	a, v := newArchive(1, 1), newVault()
	l := a.lane()
	l.Fetch = func(context.Context, Item) ([]Record, error) {
		return []Record{Upsert(a.message(0, 0)), Upsert(map[string]any{"id": "t0001/1"})}, nil
	}
	r := succeeded(t, v.run(t, collecting(t, l), options{scope: laneScope}))
	gaps := all[*protocol.DetailGap](r)
	if len(gaps) != 1 || gaps[0].Reason != protocol.ReasonTemporaryUnavailable ||
		gaps[0].Detail.Class != runstate.SchemaMismatch ||
		!gaps[0].Retryable {
		t.Errorf("gaps %+v", gaps)
	}
	if len(v.records["messages"]) != 1 {
		t.Errorf("%d messages stored, want the good one", len(v.records["messages"]))
	}
	succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope}))
	a.complete(t, v)
}

func TestScopeNarrowsEveryRecord(t *testing.T) {
	t.Parallel()
	records := []Record{
		Upsert(row{ID: "a", At: "2024-01-01T00:00:00Z", Text: "1"}),
		Upsert(row{ID: "b", At: "2024-02-01T00:00:00Z", Text: "2"}),
		Upsert(row{ID: "c", At: "2024-03-01T00:00:00Z", Text: "3"}),
		Upsert(row{ID: "d", Text: "4"}),
	}
	for name, c := range map[string]struct {
		scope protocol.StreamScope
		want  map[string]string
		skips int
	}{
		"resources": {
			protocol.StreamScope{Resources: []string{"b", "z"}},
			map[string]string{"b": `{"id":"b","at":"2024-02-01T00:00:00Z","text":"2"}`}, 0,
		},
		"fields": {
			protocol.StreamScope{Resources: []string{"a"}, Fields: []string{"text"}},
			map[string]string{"a": `{"id":"a","text":"1"}`}, 0,
		},
		"fields in a time range": {
			protocol.StreamScope{Fields: []string{"id"}, TimeRange: &protocol.TimeRange{Since: "2024-02-02"}},
			map[string]string{"c": `{"at":"2024-03-01T00:00:00Z","id":"c"}`}, 1,
		},
		"since is inclusive, until is not": {
			protocol.StreamScope{TimeRange: &protocol.TimeRange{Since: "2024-01-01T01:00:00+01:00",
				Until: "2024-02-01T00:00:00Z"}},
			map[string]string{"a": `{"id":"a","at":"2024-01-01T00:00:00Z","text":"1"}`}, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.scope.Name = "log"
			v := newVault()
			r := succeeded(t, v.run(t, collecting(t, pages("log", records)), options{scope: []protocol.StreamScope{c.scope}}))
			if fmt.Sprint(v.records["log"]) != fmt.Sprint(c.want) {
				t.Errorf("stored %v, want %v", v.records["log"], c.want)
			}
			if n := len(all[*protocol.SkipResult](r)); n != c.skips {
				t.Errorf("%d skips, want %d: a record whose time cannot be told is declared", n, c.skips)
			}
		})
	}
}

func TestScopeThatCannotBeHonoured(t *testing.T) {
	t.Parallel()
	asked := 0
	notes := pages("notes", []Record{Upsert(map[string]any{"box": "in", "id": 1})})
	counted := PagedStream{
		Stream: "notes",
		Page:   func(ctx context.Context, at Cursor) (Page, error) { asked++; return notes.Page(ctx, at) },
	}
	r := succeeded(t, newVault().run(t, collecting(t, counted, pages("log")), options{scope: []protocol.StreamScope{
		{Name: "notes", TimeRange: &protocol.TimeRange{Since: "2024-01-01"}}, // no consent_time_field
		{Name: "log", TimeRange: &protocol.TimeRange{Since: "yesterday"}},
		{Name: "threads"}, // no collector
	}}))
	skips := all[*protocol.SkipResult](r)
	if len(skips) != 3 || asked > 0 {
		t.Fatalf("%d skips, %d pages read", len(skips), asked)
	}
	for i, name := range []string{"notes", "log", "threads"} {
		if skips[i].Stream != name || skips[i].Reason != protocol.ScopeNotSupported {
			t.Errorf("skip %d: %s %s", i, skips[i].Stream, skips[i].Reason)
		}
	}
}

// TestTombstonesObeyResources keeps a deletion out of a scope that does not name it.
func TestTombstonesObeyResources(t *testing.T) {
	t.Parallel()
	c := collecting(t, pages("notes", []Record{Delete(`["in","1"]`), Delete(`["in","2"]`)}))
	r := succeeded(
		t,
		newVault().run(t, c, options{scope: []protocol.StreamScope{{Name: "notes", Resources: []string{`["in","2"]`}}}}),
	)
	if records := all[*protocol.Record](r); len(records) != 1 || records[0].Key != `["in","2"]` {
		t.Errorf("%d tombstones", len(records))
	}
}

// TestOversizedRecords shows that what a line cannot hold is declared, not sent.
//
//pdpp:tier unraced
func TestOversizedRecords(t *testing.T) {
	t.Parallel()
	deep := jsontext.Value(`{"box":"in","id":1,"x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`)
	huge := map[string]any{"box": "in", "id": 2, "text": strings.Repeat("x", protocol.DefaultMaxLine)}
	v := newVault()
	c := collecting(t, pages("notes", []Record{Upsert(deep), Upsert(huge), Upsert(map[string]any{"box": "in", "id": 3})}))
	r := succeeded(t, v.run(t, c, options{scope: only("notes")}))
	if len(v.records["notes"]) != 1 {
		t.Errorf("stored %d, want 1", len(v.records["notes"]))
	}
	var d struct {
		Count int `json:"count"`
	}
	if skips := all[*protocol.SkipResult](
		r,
	); len(skips) != 1 || json.Unmarshal(skips[0].Diagnostics, &d) != nil ||
		d.Count != 2 {
		t.Errorf("declared %d", d.Count)
	}
}

// TestNumbersKeepTheirSpelling guards ids beyond what a float holds.
func TestNumbersKeepTheirSpelling(t *testing.T) {
	t.Parallel()
	v := newVault()
	c := collecting(t, pages("notes", []Record{Upsert(jsontext.Value(`{"box":"in","id":12345678901234567890}`))}))
	succeeded(t, v.run(t, c, options{scope: []protocol.StreamScope{{Name: "notes", Fields: []string{"id"}}}}))
	if got := v.records["notes"][`["in","12345678901234567890"]`]; got != `{"box":"in","id":12345678901234567890}` {
		t.Errorf("stored %s of %v", got, v.records["notes"])
	}
}
