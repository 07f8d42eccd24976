package readapi_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Every answer with data states its freshness and in which time range it is whole, in the body and in headers.
func TestEveryAnswerSaysHowCompleteItIs(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		b := newWorldOver(t, open(t)).book("mine")
		read := at(3, 20)
		b.whole(read, made("entries", "e1", at(1, 5), map[string]any{"text": "pear"}),
			made("entries", "e2", at(2, 5), map[string]any{"text": "plum"}),
			made("pages", "p1", at(1, 4), map[string]any{"entry_id": "e1"}))
		whole, february := b.grant("", b.scope("entries"), b.scope("pages")), b.grant("", months(b.scope("entries"), 2, 3))
		for _, path := range []string{
			"/v1/streams", "/v1/streams/entries/records", "/v1/streams/entries/records/e2",
			"/v1/streams/entries/records?changes_since=beginning",
			"/v1/streams/entries/aggregate", "/v1/search?q=plum",
		} {
			for token, to := range map[string]time.Time{whole: read, b.owner(): read,
				february: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)} {
				a := b.ask(token, path)
				got := a.told(t)
				from := ".."
				if token == february {
					from = "2026-02-01T00:00:00Z"
				}
				if got.Whole != "yes" || got.AsOf == nil || !got.AsOf.Equal(read) || len(got.Covered) != 1 ||
					!got.Covered[0].To.Equal(to) || got.Freshness != "stale" {
					t.Errorf("%s: %+v", path, got)
				}
				if h := a.header; h.Get("PDPP-Whole") != "yes" || h.Get("PDPP-As-Of") != "2026-03-20T09:00:00Z" ||
					h.Get("PDPP-Covered") != from+"/"+to.Format(time.RFC3339) {
					t.Errorf("%s: headers %q %q %q", path, h.Get("PDPP-Whole"), h.Get("PDPP-As-Of"), h.Get("PDPP-Covered"))
				}
			}
		}
		for _, path := range []string{"/v1/schema", "/v1/streams/entries", "/v1/connectors",
			"/v1/streams/entries/records/none"} {
			if a := b.ask(whole, path); a.header.Get("PDPP-Whole") != "" {
				t.Errorf("%s says %q of no data", path, a.header.Get("PDPP-Whole"))
			}
		}
	})
}

// The completeness of a range follows from what runs have recorded.
func TestWholeOnlyWhereAllIsAccountedFor(t *testing.T) {
	t.Parallel()
	good := []fact{{Stream: "entries", Checkpoint: "committed"},
		{Stream: "pages", Checkpoint: "committed", Considered: ptr(2), Covered: ptr(2)}}
	read := at(3, 20)
	catchUp := func(b *book, cursor string) {
		l := b.start(read)
		b.commit(l, slice.Slice{Cursors: []slice.Cursor{{Stream: "entries", Mode: protocol.CatchUp, Cursor: []byte(cursor)}}},
			read)
		b.end(l, store.RunSucceeded, read, good...)
	}
	ended := func(status store.RunStatus, facts ...fact) func(b *book) {
		return func(b *book) { b.end(b.start(read), status, read, facts...) }
	}
	gaps := func(all ...slice.Gap) func(b *book) {
		return func(b *book) {
			l := b.start(read)
			b.commit(l, slice.Slice{Gaps: all}, read)
			b.end(l, store.RunSucceeded, read, good...)
		}
	}
	gone := itemGap("entries", "e9")
	gone.Retryable = false
	list := itemGap("entries", "__entries_list__")
	const january, all = "filter[at][lt]=2026-02-01T00:00:00Z", ""
	for name, tt := range map[string]struct {
		make                               func(b *book)
		entries, pages, inJanuary, covered string
	}{
		"all accounted for": {ended(store.RunSucceeded, good...), "yes", "yes", "yes", "../read"},
		"no run has ended":  {func(b *book) { b.start(read) }, "unknown", "unknown", "unknown", ""},
		"no facts":          {ended(store.RunSucceeded), "unknown", "unknown", "unknown", ""},
		"nothing durable": {ended(store.RunSucceeded, fact{Stream: "entries", Checkpoint: "staged"}, good[1]),
			"unknown", "unknown", "unknown", ""},
		"withheld": {ended(store.RunSucceeded, fact{Stream: "entries", Checkpoint: "withheld"}, good[1]),
			"unknown", "unknown", "unknown", ""},
		"counted without bookmark": {ended(store.RunSucceeded,
			fact{Stream: "entries", Checkpoint: "none", Considered: ptr(3), Covered: ptr(3)}, good[1]), "yes", "yes", "yes",
			"../read"},
		"fewer than counted": {ended(store.RunSucceeded, good[0],
			fact{Stream: "pages", Checkpoint: "committed", Considered: ptr(3), Covered: ptr(2)}), "yes", "unknown", "yes",
			"../read"},
		"half a count": {ended(store.RunSucceeded,
			fact{Stream: "entries", Checkpoint: "committed", Considered: ptr(3)}, good[1]), "unknown", "unknown", "unknown", ""},
		"failed": {ended(store.RunFailed, good[0], good[1]), "unknown", "unknown", "unknown", ""},
		"failed elsewhere": {ended(store.RunFailed,
			fact{Stream: "entries", Checkpoint: "committed", Considered: ptr(2), Covered: ptr(2)}, good[1]), "yes", "yes", "yes",
			"../read"},
		"skipped": {ended(store.RunSucceeded,
			fact{Stream: "entries", Checkpoint: "committed", Skipped: map[string]any{"reason": "x"}}, good[1]), "unknown",
			"unknown", "unknown", ""},
		"of some records": {ended(store.RunSucceeded,
			fact{Stream: "entries", Checkpoint: "committed", Scope: map[string]any{"resources": true}}, good[1]), "unknown",
			"unknown", "unknown", ""},
		"an item is missing":      {gaps(itemGap("entries", "e9")), "no", "unknown", "unknown", ""},
		"an item will be missing": {gaps(gone), "no", "unknown", "unknown", ""},
		"a detail is missing":     {gaps(itemGap("pages", "e1")), "yes", "no", "yes", "../read"},
		"a list was cut":          {gaps(list), "unknown", "unknown", "unknown", ""},
		"a window waits": {gaps(backlog(at(2, 20), at(2, 10))), "unknown", "unknown", "yes",
			"../2026-02-09T09:00:00Z, 2026-02-21T09:00:00Z/read"},
		"a window without a floor": {gaps(backlog(at(1, 20), time.Time{})), "unknown", "unknown", "unknown",
			"2026-01-21T09:00:00Z/read"},
		"a walk goes on": {func(b *book) {
			catchUp(b,
				`{"before":"2026-02-20T00:00:00Z","floor":"2026-02-10T00:00:00Z"}`)
		}, "unknown", "unknown", "yes",
			"../2026-02-09T00:00:00Z, 2026-02-21T00:00:00Z/read"},
		"a walk nobody understands": {func(b *book) { catchUp(b, `{"before":"2026-02-20T00:00:00Z","offset":7}`) }, "unknown",
			"unknown", "unknown", ""},
		"a walk has ended": {func(b *book) { catchUp(b, `null`) }, "yes", "yes", "yes", "../read"},
		"taken back": {func(b *book) {
			ended(store.RunSucceeded, good...)(b)
			l, err := b.store.StartRun(b.ctx(), store.RunStart{RunID: "undo_" + b.id, ConnectionID: b.id, ConnectorID: "ledger",
				Trigger: store.TriggerUndo, Holder: "test", TTL: time.Hour}, read)
			check(b.t, err)
			b.end(l, store.RunSucceeded, read)
		}, "unknown", "unknown", "unknown", ""},
		"failed since": {func(b *book) {
			ended(store.RunSucceeded, good...)(b)
			b.end(b.start(read.Add(time.Hour)), store.RunFailed, read.Add(2*time.Hour),
				fact{Stream: "entries", Checkpoint: "staged"}, fact{Stream: "pages", Checkpoint: "none"})
		}, "yes", "yes", "yes", "../read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWorld(t).book("mine")
			tt.make(b)
			token := b.owner()
			for ask, want := range map[string]string{"entries/records?" + all: tt.entries, "pages/records?" + all: tt.pages,
				"entries/records?" + january: tt.inJanuary} {
				if got := b.ask(token, "/v1/streams/"+ask).told(t); got.Whole != want {
					t.Errorf("%s is %s, want %s", ask, got.Whole, want)
				}
			}
			covered := ""
			if a := b.ask(token, "/v1/streams/entries/records"); a.status == 200 {
				covered = a.header.Get("PDPP-Covered")
			}
			if want := strings.ReplaceAll(tt.covered, "read", read.Format(time.RFC3339)); covered != want {
				t.Errorf("covered %q, want %q", covered, want)
			}
		})
	}
}

// A stream that rests on another is as old as the older of the two.
func TestAsOldAsWhatItRestsOn(t *testing.T) {
	t.Parallel()
	b := newWorld(t).book("mine")
	b.whole(at(3, 10))
	b.end(b.start(at(3, 20)), store.RunSucceeded, at(3, 20), fact{Stream: "pages", Checkpoint: "committed"})
	for stream, want := range map[string]time.Time{"entries": at(3, 10), "pages": at(3, 10), "people": at(3, 10)} {
		if got := b.ask(b.owner(), "/v1/streams/"+stream+"/records").told(t); got.Whole != "yes" || !got.AsOf.Equal(want) {
			t.Errorf("%s: %+v", stream, got)
		}
	}
}

// A range that ends after the source was last read is not whole.
func TestNobodyHasLookedAhead(t *testing.T) {
	t.Parallel()
	b := newWorld(t).book("mine")
	b.whole(at(3, 20))
	until := func(when string) string {
		return b.ask(b.owner(), "/v1/streams/entries/records?"+url.Values{"filter[at][lt]": {when}}.Encode()).told(t).Whole
	}
	if before, after := until("2026-03-20T09:00:00Z"), until("2026-03-20T09:00:01Z"); before != "yes" ||
		after != "unknown" {
		t.Errorf("up to then %s, beyond %s", before, after)
	}
	beyond := b.grant("", months(b.scope("entries"), 2, 9))
	if got := b.ask(beyond, "/v1/streams/entries/records").told(t); got.Whole != "unknown" || len(got.Covered) != 1 ||
		!got.Covered[0].To.Equal(at(3, 20)) {
		t.Errorf("a grant beyond it: %+v", got)
	}
	ahead := b.grant("", months(b.scope("entries"), 5, 0))
	if got := b.ask(ahead, "/v1/streams/entries/records").told(t); got.Whole != "unknown" || len(got.Covered) != 0 {
		t.Errorf("a grant ahead of it: %+v", got)
	}
}

// Who may read chosen records hears nothing of the others, and who may read once nothing of
// what comes later.
func TestNarrowGrantsHearLess(t *testing.T) {
	t.Parallel()
	b := newWorld(t).book("mine")
	b.whole(at(3, 20), made("entries", "e1", at(1, 5), nil), made("entries", "e2", at(1, 6), nil))
	chosen := b.scope("entries")
	chosen.Resources = []string{"e1"}
	if got := b.ask(b.grant("", chosen), "/v1/streams/entries/records").told(t); got.Whole != "unknown" ||
		len(got.Covered) != 0 {
		t.Errorf("chosen records: %+v", got)
	}
	once := b.grant(store.GrantSingleUse, b.scope("entries"))
	if got := b.ask(once, "/v1/streams").told(t); got.AsOf != nil || got.Whole != "unknown" {
		t.Errorf("the streams of a single reading: %+v", got)
	}
	first := b.ask(once, "/v1/streams/entries/records?limit=1")
	if got := first.told(t); got.Whole != "yes" {
		t.Errorf("its first page: %+v", got)
	}
	b.whole(at(3, 25), made("entries", "e3", at(1, 7), nil))
	second := b.ask(once, "/v1/streams/entries/records?limit=1&cursor="+first.page(t).Next)
	if got := second.told(t); got.AsOf != nil || got.Whole != "unknown" {
		t.Errorf("its second page: %+v", got)
	}
}

// Uncountable streams are never whole, and neither is a search that leaves records out.
func TestNothingIsWholeThatNobodyCounts(t *testing.T) {
	t.Parallel()
	for _, kind := range []store.SourceKind{store.SourceManual, store.SourceLocalDevice} {
		b := newWorld(t).book("mine")
		check(t, b.store.CreateConnection(b.ctx(),
			store.Connection{ID: "brought", ConnectorID: "ledger", DisplayName: "Brought", Status: store.ConnectionActive,
				SourceKind: kind, ManifestGeneration: 1, CreatedAt: noon, UpdatedAt: noon}))
		brought := &book{world: b.world, id: "brought"}
		brought.whole(at(3, 20))
		if got := b.ask(b.owner(), "/v1/streams/entries/records?connection_id=brought").told(t); got.Whole != "unknown" ||
			got.AsOf == nil {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	b := newWorld(t).book("mine")
	b.whole(at(3, 20), made("entries", "e1", at(1, 5), map[string]any{"text": "pear", "secret": "plum"}))
	for from, to := range map[string]string{`"search":["text"]`: `"search":["text","secret"]`,
		`"consent_time_field":"at","cursor_field":"at"`: `"consent_time_field":"text"`} {
		_, err := b.store.PutManifest(b.ctx(), "ledger", []byte(strings.ReplaceAll(ledger, from, to)), noon)
		check(t, err)
		path, token := "/v1/search?q=pear", b.owner()
		if to != `"search":["text","secret"]` {
			path, token = "/v1/streams/entries/records", b.grant("", months(b.scope("entries"), 1, 2))
		}
		if got := b.ask(token, path).told(t); got.Whole != "unknown" || len(got.Covered) != 0 {
			t.Errorf("%s: %+v", to, got)
		}
	}
}
