package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Marker is a text that RunDeletedBytes looks for in the files of a database.
const Marker = "Quittenmarmelade"

// RunDeletedBytes purges records and searches the files of the database for their content. Raw reads all files. What
// is not deleted must be found, which proves that the search works.
func RunDeletedBytes(t *testing.T, s store.Store, raw func() (files map[string][]byte)) {
	ctx := context.Background()
	indexed := strings.Replace(strings.ReplaceAll(querying, textField, "title"), `"query":{`,
		`"query":{"search":["title"],`, 1)
	_, err := s.PutManifest(ctx, "example", []byte(indexed), Now)
	ok(t, err)
	l := begin(t, s, "c", "r1", titles)
	kept := begin(t, s, "kept", "r2", titles)
	put(t, s, kept, titled("k", "stays Birnenmus", ""))
	var records []slice.Record
	for i := range 600 {
		records = append(records, titled(fmt.Sprint(Marker, "-key-", i), fmt.Sprint("word ", Marker, " ", i),
			strings.Repeat(Marker+" ", 40)))
	}
	for part := range slices.Chunk(records, 200) {
		put(t, s, l, part...)
	}
	for i := range records[:200] {
		records[i].Data = fmt.Appendf(nil, `{"title":"another %s %d"}`, Marker, i)
	}
	move(t, s, l, `{"after":"`+Marker+`"}`, records[:200]...)
	gap := missingGap(Marker + "-gap")
	commit(t, s, l, slice.Slice{Gaps: []slice.Gap{gap},
		Events: []slice.Event{{Type: "x", Data: []byte(`{"m":"` + Marker + `"}`)}}}, Now)
	finish(t, s, l, Now)
	finish(t, s, kept, Now)
	ok(t, s.PutSetting(ctx, store.SelectionSetting+"c", []byte(`{"streams":[{"stream":"s","resources":["`+Marker+`"]}]}`),
		Now))
	ok(t, s.AddSearch(ctx, store.Search{ID: "s1", Name: Marker, Address: "/records?connection=c&q=" + Marker,
		CreatedAt: Now}))
	if index(t, s, 1) == 0 {
		t.Fatal("no field is indexed")
	}
	_, err = s.RequestRun(ctx, store.RunRequest{ConnectionID: "c", Trigger: store.TriggerManual, RequestedAt: Now,
		Scope: []protocol.StreamScope{{Name: Stream, Resources: []string{Marker}}}})
	ok(t, err)
	// Deleted and remaining records share segments of the text index.
	mixed := begin(t, s, "mixed", "r3", titles, store.StreamSpec{Name: "notes", SearchFields: []string{"title"}})
	var both []slice.Record
	for i := range 400 {
		stays := titled(fmt.Sprint("stays-", i), fmt.Sprint("Brombeeren ", i), "")
		stays.Stream = "notes"
		both = append(both, stays)
		if i < 4 { // too few for the index to be merged automatically
			both = append(both, titled(fmt.Sprint("goes-", i), fmt.Sprint("Hagebuttentee ", i), ""))
		}
	}
	put(t, s, mixed, both...)
	finish(t, s, mixed, Now)
	found := func(text string) (in []string) {
		for name, body := range raw() {
			if strings.Contains(strings.ToLower(string(body)), strings.ToLower(text)) {
				in = append(in, name)
			}
		}
		return in
	}
	if len(found(Marker)) == 0 {
		t.Fatal("the records are not found in the files before they are deleted")
	}
	ok(t, s.RequestDeletion(ctx, store.Deletion{ID: "now", DeletionScope: store.DeletionScope{Kind: store.DeleteConnection,
		ConnectionID: "c"}, AskedAt: Now, PurgeAfter: Now}))
	ok(t, s.RequestDeletion(ctx, store.Deletion{ID: "too", DeletionScope: store.DeletionScope{Kind: store.DeleteStream,
		ConnectionID: "mixed", Stream: Stream}, AskedAt: Now, PurgeAfter: Now}))
	advance(t, s, Now)
	ok(t, s.FinishDeletions(ctx, Now))
	same(t, deletionOf(t, s, "now").State, store.DeletionPurged)
	for _, text := range []string{Marker, "Hagebuttentee"} {
		if in := found(text); len(in) > 0 {
			t.Errorf("%s was deleted and is still in %s", text, strings.Join(in, ", "))
		}
	}
	for _, text := range []string{"Birnenmus", "Brombeeren"} {
		if len(found(text)) == 0 {
			t.Errorf("%s was not deleted and is not found in the files", text)
		}
	}
}

// RunDeletionBesideReader purges a connection during an earlier read transaction, and again after it has ended.
func RunDeletionBesideReader(t *testing.T, s store.Store, begun, ended func()) {
	ctx := context.Background()
	l := begin(t, s, "c", "r1", titles)
	put(t, s, l, titled("k", "Quittengelee", ""))
	finish(t, s, l, Now)
	begun()
	ok(t, s.RequestDeletion(ctx, store.Deletion{ID: "now", DeletionScope: store.DeletionScope{Kind: store.DeleteConnection,
		ConnectionID: "c"}, AskedAt: Now, PurgeAfter: Now}))
	advance(t, s, Now)
	if err := s.FinishDeletions(ctx, Now); err == nil {
		t.Error("the rows that a reader can still see were called removed")
	}
	same(t, deletionOf(t, s, "now").State, store.DeletionCompacting)
	ended()
	ok(t, s.FinishDeletions(ctx, Now))
	same(t, deletionOf(t, s, "now").State, store.DeletionPurged)
}

// RunDeletionAtOnce purges a connection while other work goes on in the database.
func RunDeletionAtOnce(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", titles)
	put(t, s, l, titled("k", "Quittengelee", ""))
	finish(t, s, l, Now)
	scope := store.DeletionScope{Kind: store.DeleteConnection, ConnectionID: "c"}
	ok(t, s.RequestDeletion(t.Context(), store.Deletion{ID: "now", DeletionScope: scope, AskedAt: Now, PurgeAfter: Now}))
	advance(t, s, Now)
	ok(t, s.FinishDeletions(t.Context(), Now))
	same(t, deletionOf(t, s, "now").State, store.DeletionPurged)
}
