package readapi_test

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A connector declares another time and other search fields. Until the stored data agrees, a time-limited grant and a
// search return nothing of it. Then both use the new declaration.
func TestChangedDeclaration(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		l := w.connect("mine")
		// Written in 2020 and filed in 2026: n1; the other way round: n2.
		w.put(l,
			slice.Record{Stream: "notes", Key: "n1", EmittedAt: "x", SemanticTime: "2026-02-01T00:00:00.000000Z",
				Data: []byte(`{"id":"n1","title":"coast","body":"narwhal","written_at":"2026-02-01","private":"2020-02-01"}`)},
			slice.Record{Stream: "notes", Key: "n2", EmittedAt: "x", SemanticTime: "2020-02-01T00:00:00.000000Z",
				Data: []byte(`{"id":"n2","title":"coast","body":"narwhal","written_at":"2020-02-01","private":"2026-02-01"}`)})
		finish(w, l)
		since := w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes", Since: ptr(at(1, 1)),
			Fields: []string{"title", "body"}})
		titles := w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes", Fields: []string{"title"}})
		read := func(token, path string) string {
			t.Helper()
			a := w.ask(token, path)
			if a.status != 200 {
				return a.code()
			}
			return a.page(t).ids()
		}
		const records, changes = "/v1/streams/notes/records", "/v1/streams/notes/records?changes_since=beginning"
		for path, want := range map[string]string{records: "n1", changes: "n1", "/v1/search?q=narwhal": "n1"} {
			if got := read(since, path); got != want {
				t.Errorf("before, %s: %q, want %q", path, got, want)
			}
		}
		if got := read(titles, "/v1/search?q=narwhal"); got != "insufficient_scope" {
			t.Errorf("before, a search over the body: %q", got)
		}

		declared := strings.NewReplacer(`"consent_time_field":"written_at"`, `"consent_time_field":"private"`,
			`"search":["title","body"]`, `"search":["title"]`).Replace(journal)
		_, err := w.store.PutManifest(w.ctx(), "journal", []byte(declared), noon)
		check(t, err)
		for _, path := range []string{records, changes, "/v1/search?q=coast", "/v1/search?q=narwhal"} {
			if got := read(since, path); got != "" {
				t.Errorf("meanwhile, %s: %q", path, got)
			}
		}
		for _, word := range []string{"coast", "narwhal"} {
			if got := read(titles, "/v1/search?q="+word); got != "" {
				t.Errorf("meanwhile, a search for %s: %q", word, got)
			}
		}
		for done := false; !done; {
			done, err = w.store.BackfillDerived(w.ctx())
			check(t, err)
		}
		for path, want := range map[string]string{records: "n2", changes: "n2", "/v1/search?q=coast": "n2",
			"/v1/search?q=narwhal": ""} {
			if got := read(since, path); got != want {
				t.Errorf("after, %s: %q, want %q", path, got, want)
			}
		}
		if got := read(titles, "/v1/search?q=coast"); got != "n2 n1" {
			t.Errorf("after, a search of titles: %q", got)
		}
		if got := read(titles, "/v1/search?q=narwhal"); got != "" {
			t.Errorf("a word of a field that is no longer searched is found: %q", got)
		}
	})
}

func finish(w *world, l store.Lease) {
	w.t.Helper()
	check(w.t, w.store.FinishRun(w.ctx(), l, store.RunOutcome{Status: store.RunSucceeded}, w.time()))
}
