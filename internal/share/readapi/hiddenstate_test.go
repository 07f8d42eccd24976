package readapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// sealed are the parts of an answer that only its own server can read.
var sealed = regexp.MustCompile(`"(next_changes_since|next_cursor)":"[^"]*"`)

// heard returns everything that a client receives through a grant, by every route.
func (w *world) heard(token string, paths []string) string {
	w.t.Helper()
	var all strings.Builder
	for _, path := range paths {
		a := w.ask(token, path)
		fmt.Fprintf(&all, "%s\n%d %s", path, a.status, sealed.ReplaceAllString(a.body, `"$1":""`))
		for _, name := range slices.Sorted(maps.Keys(a.header)) {
			if strings.HasPrefix(name, "Pdpp-") {
				fmt.Fprintln(&all, name, a.header[name])
			}
		}
	}
	return all.String()
}

// Two servers that differ only in what a grant does not cover return identical bytes. They differ in hidden fields
// and streams, records outside its window, other connections, and the reasons and numbers of missing items.
func TestNothingHiddenShows(t *testing.T) {
	t.Parallel()
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
				w := newWorld(t)
				b := w.book("mine")
				fill(b)
				answers = append(answers, w.heard(w.grant("", narrow...), paths))
				if !strings.Contains(answers[0], `"whole":`) || !strings.Contains(answers[0], `"pear"`) {
					t.Fatalf("the grant hears nothing: %s", answers[0])
				}
			}
			if answers[0] != answers[1] {
				t.Errorf("one hears\n%s\nthe other\n%s", answers[0], answers[1])
			}
		})
	}
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
