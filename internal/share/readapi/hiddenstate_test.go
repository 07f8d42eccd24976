package readapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/mcp"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// sealed are the parts of an answer that only its own server can read. Its length is a part of what is received.
var sealed = regexp.MustCompile(`(next_changes_since|next_cursor|next|\nid)(\\?":\\?"|: )([\w-]+)`)

// unsealed replaces what is sealed with its length.
func unsealed(text string) string {
	return sealed.ReplaceAllStringFunc(text, func(found string) string {
		parts := sealed.FindStringSubmatch(found)
		return fmt.Sprint(parts[1], parts[2], len(parts[3]))
	})
}

// heard returns everything that a client receives through a grant, by every route.
func (w *world) heard(token string, paths []string) string {
	w.t.Helper()
	var all strings.Builder
	for _, path := range paths {
		a := w.ask(token, path)
		fmt.Fprintf(&all, "%s\n%d %s", path, a.status, unsealed(a.body))
		for _, name := range slices.Sorted(maps.Keys(a.header)) {
			if strings.HasPrefix(name, "Pdpp-") {
				fmt.Fprintln(&all, name, a.header[name])
			}
		}
	}
	return all.String()
}

// asked are what an assistant can ask of a server besides the lists of what it offers.
var asked = []struct {
	method, name string
	arguments    any
}{
	{"tools/call", "list_streams", nil},
	{"tools/call", "describe_stream", map[string]any{"stream": "entries"}},
	{"tools/call", "describe_stream", map[string]any{"stream": "pages"}},
	{"tools/call", "search", map[string]any{"words": "pear"}},
	{"tools/call", "search", map[string]any{"words": "pear", "limit": 1}},
	{"tools/call", "search", map[string]any{"words": "quince"}},
	{"tools/call", "search", map[string]any{"words": "Ann"}},
	{"tools/call", "read_records", map[string]any{"stream": "entries"}},
	{"tools/call", "read_records", map[string]any{"stream": "entries", "order": "desc", "limit": 1}},
	{"tools/call", "read_records", map[string]any{"stream": "entries", "fields": []string{"secret"}}},
	{"tools/call", "read_records", map[string]any{"stream": "entries",
		"filters": []any{map[string]any{"field": "person_id", "value": "p-fig"}}}},
	{"tools/call", "read_records", map[string]any{"stream": "entries",
		"filters": []any{map[string]any{"field": "at", "op": "lt", "value": "2026-02-01T00:00:00Z"}}}},
	{"tools/call", "read_records", map[string]any{"stream": "pages"}},
	{"tools/call", "read_records", map[string]any{"stream": "entries", "connection_id": "other"}},
	{"tools/call", "get_record", map[string]any{"stream": "entries", "id": "in"}},
	{"tools/call", "get_record", map[string]any{"stream": "entries", "id": "in", "field": "secret"}},
	{"tools/call", "get_record", map[string]any{"stream": "entries", "id": "out"}},
	{"tools/call", "get_record", map[string]any{"stream": "people", "id": "p-fig"}},
	{"tools/call", "get_record", map[string]any{"stream": "entries", "id": "in", "versions": true}},
	{"tools/call", "aggregate", map[string]any{"stream": "entries"}},
	{"tools/call", "aggregate", map[string]any{"stream": "entries", "group_by": "text"}},
	{"tools/call", "aggregate", map[string]any{"stream": "entries", "group_by": "secret"}},
	{"tools/call", "aggregate", map[string]any{"stream": "pages"}},
	{"tools/call", "changes", map[string]any{"stream": "entries"}},
	{"tools/call", "changes", map[string]any{"stream": "entries", "limit": 1}},
	{"tools/call", "changes", map[string]any{"stream": "people"}},
	{"tools/call", "completeness", nil},
	{"tools/call", "completeness", map[string]any{"connection_id": "other"}},
	{"tools/call", "run_now", map[string]any{"connection_id": "mine"}},
	{"resources/read", "pdpp://day/2026-02-05", nil},
	{"resources/read", "pdpp://day/2026-01-05", nil},
	{"resources/read", "pdpp://person/pear", nil},
	{"resources/read", "pdpp://person/Ann", nil},
	{"resources/read", "pdpp://thread/mine/entries/text/pear", nil},
	{"resources/read", "pdpp://thread/mine/entries/person_id/p-fig", nil},
	{"resources/read", "pdpp://thread/mine/pages/entry_id/in", nil},
	{"prompts/get", "day", map[string]any{"date": "2026-01-05"}},
	{"prompts/get", "person", map[string]any{"name": "Ann"}},
	{"prompts/get", "thread", map[string]any{"connection_id": "mine", "stream": "entries", "field": "person_id",
		"value": "p-fig"}},
	{"completion/complete", "person", nil},
	{"completion/complete", "thread", nil},
	{"resources/subscribe", "pdpp://day/2026-01-05", nil},
	{"tools/list", "", nil}, {"resources/list", "", nil}, {"resources/templates/list", "", nil},
	{"prompts/list", "", nil},
}

// receivedByAssistant returns everything that an assistant receives through a grant: by tools, resources, prompts and
// completions, with their errors.
func (w *world) receivedByAssistant(token string) string {
	w.t.Helper()
	var all strings.Builder
	for i, q := range asked {
		parameters := map[string]any{}
		switch q.method {
		case "resources/read", "resources/subscribe":
			parameters["uri"] = q.name
		case "completion/complete":
			parameters["ref"] = map[string]any{"type": "ref/prompt", "name": q.name}
			parameters["argument"] = map[string]any{"name": "name", "value": "A"}
		case "tools/call", "prompts/get":
			parameters["name"], parameters["arguments"] = q.name, q.arguments
		}
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": i, "method": q.method, "params": parameters})
		check(w.t, err)
		r, err := http.NewRequest(http.MethodPost, w.address+mcp.Path, bytes.NewReader(body))
		check(w.t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		a := w.send(r)
		fmt.Fprintf(&all, "%s\n%d %s\n", body, a.status, unsealed(a.body))
	}
	return all.String()
}

// receivedByFeed returns the first event of a stream's feed, or why there is none.
func (w *world) receivedByFeed(t *testing.T, token, stream string) string {
	t.Helper()
	f := w.feed(t, token, "/v1/changes?stream="+stream, "")
	e, _ := f.next()
	f.end()
	return unsealed(fmt.Sprintf("%d %s\nid: %s\n%s\n", f.status, e.kind, e.id, e.data))
}

// Two servers that differ only in what a grant does not cover return identical bytes, to programs, to assistants and
// in feeds. They differ in hidden fields and streams, records outside its window, other connections, and the reasons
// and numbers of missing items.
func TestNothingHiddenShows(t *testing.T) {
	t.Parallel()
	onBoth(t, testNothingHiddenShows)
}

func testNothingHiddenShows(t *testing.T, open opener) {
	read := at(3, 20)
	february := func(s grants.Stream) grants.Stream { return months(s, 2, 3) }
	narrow := grants.GrantedStreams{february(grants.Stream{ConnectionID: "mine", Stream: "entries",
		Fields: []string{"text", "at"}})}
	paths := []string{"/v1/streams", "/v1/streams/entries", "/v1/schema", "/v1/streams/entries/records",
		"/v1/streams/entries/records/in", "/v1/streams/entries/records/out",
		"/v1/streams/entries/records?changes_since=beginning",
		"/v1/streams/entries/records?filter[at][gte]=2026-02-10T00:00:00Z", "/v1/streams/entries/aggregate",
		"/v1/streams/entries/aggregate?group_by=text", "/v1/search?q=pear", "/v1/streams/pages/records",
		"/v1/streams/people/records", "/v1/streams/entries/records?expand=person",
		"/v1/streams/entries/records?expand=pages",
		"/v1/streams/entries/records?expand=hushed", "/v1/streams/entries/records?filter[person_id]=x"}
	// base is what the grant sees; more is added to one of the two.
	base := func(b *book, secret string, more ...slice.Record) {
		b.whole(read, append(more,
			made("entries", "in", at(2, 5), map[string]any{"text": "pear", "secret": secret, "person_id": "p-" + secret}))...)
	}
	missing := func(b *book, gaps ...slice.Gap) {
		l := b.start(read)
		b.commit(l, slice.Slice{Gaps: gaps}, read)
		b.end(l, store.RunSucceeded, read.Add(time.Minute), fact{Stream: "entries", Checkpoint: "committed"},
			fact{Stream: "pages", Checkpoint: "committed"})
	}
	because := func(stream, key string, why protocol.Reason, message string) slice.Gap {
		g := itemGap(stream, key)
		g.Reason, g.LastError = why, []byte(fmt.Sprintf(`{"message":%q}`, message))
		return g
	}
	for name, tt := range map[string]struct{ one, other func(b *book) }{
		"a hidden field": {func(b *book) { base(b, "fig") }, func(b *book) { base(b, "quince and much more of it") }},
		"a large hidden field": {func(b *book) { base(b, "fig") },
			func(b *book) { base(b, strings.Repeat("quince ", 200<<10)) }},
		"many records outside the window": {func(b *book) { base(b, "fig") }, func(b *book) {
			var many []slice.Record
			for i := range 1200 {
				many = append(many, made("entries", fmt.Sprint("early", i), at(1, 5), map[string]any{"text": "pear"}))
			}
			base(b, "fig", many...)
		}},
		"a record outside the window": {func(b *book) { base(b, "fig") }, func(b *book) {
			base(b, "fig", made("entries", "out", at(1, 5), map[string]any{"text": "pear"}))
		}},
		"a hidden stream": {func(b *book) { base(b, "fig") }, func(b *book) {
			base(b, "fig", made("pages", "p1", at(2, 5), map[string]any{"entry_id": "in"}),
				made("people", "p-fig", time.Time{}, map[string]any{"name": "Ann"}))
		}},
		"what a hidden stream lacks": {func(b *book) { base(b, "fig") }, func(b *book) {
			base(b, "fig")
			l := b.start(read)
			b.commit(l, slice.Slice{Gaps: []slice.Gap{because("pages", "in", protocol.ReasonAuthFailure, "no"),
				because("people", "__people_list__", protocol.ReasonRateLimited, "slow")}}, read)
			b.end(l, store.RunSucceeded, read.Add(time.Minute), fact{Stream: "entries", Checkpoint: "committed"},
				fact{Stream: "pages", Checkpoint: "withheld"},
				fact{Stream: "people", Checkpoint: "none", Skipped: map[string]any{"reason": "unsupported"}})
		}},
		"a window that waits outside of the grant's": {func(b *book) { base(b, "fig") },
			func(b *book) { base(b, "fig"); missing(b, backlog(at(1, 20), at(1, 3))) }},
		"a walk that goes on outside of the grant's": {func(b *book) { base(b, "fig") }, func(b *book) {
			base(b, "fig")
			l := b.start(read)
			b.commit(l, slice.Slice{Cursors: []slice.Cursor{{Stream: "entries", Mode: protocol.CatchUp,
				Cursor: []byte(`{"before":"2026-01-10T00:00:00Z"}`)}}}, read)
			b.end(l, store.RunSucceeded, read.Add(time.Minute), fact{Stream: "entries", Checkpoint: "committed"},
				fact{Stream: "pages", Checkpoint: "committed"})
		}},
		"why something is missing": {
			func(b *book) {
				base(b, "fig")
				missing(b, because("entries", "e9", protocol.ReasonRetryExhausted, "timed out"))
			},
			func(b *book) {
				base(b, "fig")
				missing(b, because("entries", "e9", protocol.ReasonAuthFailure, "wrong password"))
			}},
		"how much is missing": {
			func(b *book) { base(b, "fig"); missing(b, itemGap("entries", "e9")) },
			func(b *book) {
				base(b, "fig")
				var many []slice.Gap
				for i := range 40 {
					many = append(many, itemGap("entries", fmt.Sprint("e", i)))
				}
				missing(b, many...)
			}},
		"another connection": {func(b *book) { base(b, "fig") }, func(b *book) {
			base(b, "fig")
			other := b.world.book("other")
			other.whole(read, made("entries", "in", at(2, 5), map[string]any{"text": "pear"}))
			missing(other, itemGap("entries", "e9"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var answers []string
			for _, fill := range []func(b *book){tt.one, tt.other} {
				w := newWorldOver(t, open(t))
				b := w.book("mine")
				fill(b)
				token := w.grant("", narrow...)
				all := w.heard(token, paths) + w.receivedByAssistant(token)
				for _, stream := range []string{"entries", "pages", "nowhere"} {
					all += w.receivedByFeed(t, token, stream)
				}
				answers = append(answers, all)
				if !strings.Contains(answers[0], `"whole":`) || !strings.Contains(answers[0], `"pear"`) {
					t.Fatalf("the grant hears nothing: %s", answers[0])
				}
			}
			one, other := strings.Split(answers[0], "\n"), strings.Split(answers[1], "\n")
			for i := range min(len(one), len(other)) {
				if one[i] != other[i] {
					t.Errorf("after %s one hears\n%s\nthe other\n%s", one[max(0, i-1)], one[i], other[i])
				}
			}
			if len(one) != len(other) {
				t.Errorf("one hears %d lines, the other %d", len(one), len(other))
			}
		})
	}
}

// A change of a hidden field shows that the record changed and nothing else: the record comes again in the feed, with
// the granted fields as they were.
func TestAHiddenChangeShowsOnlyThatItHappened(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		b := newWorldOver(t, open(t)).book("mine")
		entry := func(key, secret string) slice.Record {
			return made("entries", key, at(2, 5), map[string]any{"text": "pear", "secret": secret})
		}
		b.whole(at(3, 20), entry("e1", "fig"), entry("e2", "fig"))
		token := b.grant("", grants.Stream{ConnectionID: "mine", Stream: "entries", Fields: []string{"text"}})
		before := b.ask(token, "/v1/streams/entries/records?changes_since=beginning").page(t)
		b.whole(at(3, 21), entry("e1", "quince"), entry("e2", "fig"))
		after := b.ask(token, "/v1/streams/entries/records?changes_since="+before.Since)
		if p := after.page(t); p.ids() != "e1" || fmt.Sprint(p.Data[0].Data) != fmt.Sprint(before.Data[0].Data) ||
			strings.Contains(after.body, "quince") {
			t.Errorf("the change is %s", after.body)
		}
	})
}

// The words of completeness are the only ones: an answer to a grant has no other member, and
// none of the texts that runs and gaps leave behind.
func TestCompletenessTellsNoReason(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "CH-06.2")
	b := newWorld(t).book("mine")
	l := b.start(at(3, 20))
	g := itemGap("entries", "hidden-key")
	g.Reason, g.LastError = protocol.ReasonAuthFailure, []byte(`{"message":"wrong password"}`)
	b.commit(l, slice.Slice{Records: []slice.Record{made("entries", "e1", at(2, 5), map[string]any{"text": "pear"})},
		Gaps: []slice.Gap{g}}, at(3, 20))
	b.end(l, store.RunFailed, at(3, 20), fact{Stream: "entries", Checkpoint: "withheld", Considered: ptr(4711),
		Covered: ptr(1), Skipped: map[string]any{"reason": "quota"}})
	token := b.grant("", b.scope("entries"))
	for _, path := range []string{"/v1/streams", "/v1/streams/entries/records", "/v1/streams/entries/records/e1",
		"/v1/streams/entries/aggregate", "/v1/search?q=pear", "/v1/streams/entries/records?changes_since=beginning"} {
		a := b.ask(token, path)
		var body struct{ Completeness []map[string]json.RawMessage }
		check(t, json.Unmarshal([]byte(a.body), &body))
		for member := range body.Completeness[0] {
			if !strings.Contains(" connection_id connector_name stream as_of freshness range whole covered ", " "+member+" ") {
				t.Errorf("%s tells %q", path, member)
			}
		}
		for _, word := range []string{"password", "auth", "quota", "4711", "hidden-key", "gap", "withheld", "failed"} {
			if text := fmt.Sprint(a.body, a.header); strings.Contains(text, word) {
				t.Errorf("%s tells %q: %s", path, word, text)
			}
		}
	}
}
