package readapi_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A client that follows a stream learns of what the owner deleted, within the bounds of its grant and of nothing
// else. One that comes too late for that begins again, and a client that began afterwards reads to the end.
func TestClientsLearnOfDeletions(t *testing.T) { onBoth(t, testClientsLearnOfDeletions) }

func testClientsLearnOfDeletions(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	w.furnish() // n1, n2 and n3 are live
	whole := w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes"})
	one := w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes", Resources: []string{"n2"}})
	const feed = "/v1/streams/notes/records?changes_since="
	since := map[string]string{}
	for _, token := range []string{whole, one} {
		since[token] = w.ask(token, feed+"beginning").page(t).Since
	}
	w.after(time.Hour)
	ask := func(id, key string) {
		check(t, w.store.RequestDeletion(w.ctx(),
			store.Deletion{ID: id, DeletionScope: store.DeletionScope{Kind: store.DeleteRecord, ConnectionID: "mine",
				Stream: "notes", Key: key},
				AskedAt: w.time(), PurgeAfter: w.time().Add(time.Hour)}))
	}
	advance := func() {
		for idle := false; !idle; {
			var err error
			idle, err = w.store.AdvanceDeletion(w.ctx(), w.time())
			check(t, err)
		}
	}
	ask("first", "n2")
	ask("second", "n3")
	for token, want := range map[string]string{whole: "-n2 -n3", one: "-n2"} {
		if got := w.ask(token, feed+since[token]).page(t).ids(); got != want {
			t.Errorf("a client learns of %q, want %q", got, want)
		}
	}
	if got := w.ask(whole, "/v1/streams/notes/records/n2"); got.status != 404 && got.code() != "not_found" {
		t.Errorf("a deleted record answers %d %s", got.status, got.body)
	}
	check(t, w.store.UndoDeletion(w.ctx(), "second", w.time()))
	advance()
	late := since[whole]
	if got := w.ask(whole, feed+late).page(t); got.ids() != "-n2 n3" {
		t.Errorf("after one deletion was undone a client learns of %q", got.ids())
	}
	upToDate := w.ask(whole, feed+late).page(t).Since
	w.after(2 * time.Hour)
	advance()
	if got := w.ask(whole, feed+late); got.status != 400 || got.code() != "invalid_cursor" {
		t.Errorf("a cursor from before the removal answers %d %s", got.status, got.body)
	}
	if got := w.ask(whole, feed+upToDate); got.status != 200 || got.page(t).ids() != "" {
		t.Errorf("a cursor that knew of the deletion answers %d %s", got.status, got.body)
	}
	ids, next := "", "beginning"
	for pages := 0; ; pages++ {
		got := w.ask(whole, feed+next+"&limit=1")
		if got.status != 200 || pages > 10 {
			t.Fatalf("page %d answers %d %s", pages, got.status, got.body)
		}
		p := got.page(t)
		if p.ids() == "" {
			break
		}
		ids, next = ids+" "+p.ids(), p.Since
	}
	if ids != " n1 -n5 -n4 n3" && ids != " n1 -n4 -n5 n3" {
		t.Errorf("a client that begins afterwards reads %q", ids)
	}
}
