package storetest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// coverageOf returns the facts about a stream of connection c.
func coverageOf(t testing.TB, s store.Store, stream string) store.StreamCoverage {
	t.Helper()
	all, err := s.Coverage(t.Context(), []string{"c", "nowhere"})
	ok(t, err)
	for _, c := range all {
		if c.Stream == stream {
			return c
		}
	}
	t.Fatalf("nothing is known of %s", stream)
	return store.StreamCoverage{}
}

// testCoverage follows the facts about streams through runs that succeed, fail, leave gaps and windows, and are
// undone.
func testCoverage(t *testing.T, s store.Store) {
	streams := []store.StreamSpec{{Name: Stream, TimeField: "at", SearchFields: []string{"v"}}, {Name: "lists"}}
	connect(t, s, "other")
	report(t, s, start(t, s, "other", "r0", Now, streams...), Now, missingGap("x"))
	l := begin(t, s, "c", "r1", streams...)
	same(t, coverageOf(t, s, Stream),
		store.StreamCoverage{ConnectionID: "c", Stream: Stream, SourceKind: store.SourceAccount, TimeField: "at",
			TimesCurrent: true,
			SearchFields: []string{"v"}, Indexed: true})
	end := func(status store.RunStatus, at time.Time, facts string) {
		t.Helper()
		ok(t, s.FinishRun(t.Context(), l, store.RunOutcome{Status: status, Facts: jsontext.Value(facts),
			Event: slice.Event{Type: "run.completed"}}, at))
	}
	again := func(run string, at time.Time) { t.Helper(); l = start(t, s, "c", run, at, streams...) }
	ended := Now.Add(time.Second)
	end(store.RunSucceeded, ended,
		`{"streams":[{"stream":"items","collected":2,"considered":3,"covered":2,"checkpoint":"committed","skipped":null},`+
			`{"stream":"lists","checkpoint":"none","skipped":{"reason":"odd"}}]}`)
	three, two := int64(3), int64(2)
	first := &store.StreamMeasurement{StartedAt: Now, Status: store.RunSucceeded, Considered: &three, Covered: &two,
		Committed: true}
	got := coverageOf(t, s, Stream)
	same(t, got.Newest, first)
	same(t, got.Succeeded, nil)
	same(t, got.CapturedAt, &ended)
	same(t, coverageOf(t, s, "lists").Newest, &store.StreamMeasurement{StartedAt: Now, Status: store.RunSucceeded,
		Skipped: true})

	// A failed run keeps the measurements of the previous one.
	later := Now.Add(time.Minute)
	again("r2", later)
	end(store.RunFailed, later,
		`{"streams":[{"stream":"items","checkpoint":"withheld","skipped":null,"collection_scope":{"resources":true}}]}`)
	got = coverageOf(t, s, Stream)
	same(t, got.Newest, &store.StreamMeasurement{StartedAt: later, Status: store.RunFailed, Narrowed: true})
	same(t, got.Succeeded, first)
	same(t, got.CapturedAt, &ended)
	same(t, coverageOf(t, s, "lists").Succeeded, nil)

	// A gap of an item is open until it is recovered; a gap of a range concerns the parent too.
	again("r3", later)
	part := slice.Gap{Stream: Stream, ParentStream: "lists", RecordKey: "__lists_backlog__:1:2",
		Reason: protocol.ReasonRunCapDeferred, Retryable: true, Locator: jsontext.Value(`{"kind":"e.lists_backlog"}`)}
	gone := missingGap("b")
	gone.Retryable = false
	report(t, s, l, later, missingGap("_a"), part)
	same(t, coverageOf(t, s, Stream).GapOpen, true)
	same(t, coverageOf(t, s, Stream).RangeGaps, []store.RangeGap{{Own: true, Locator: part.Locator}})
	same(t, coverageOf(t, s, "lists").RangeGaps, []store.RangeGap{{Locator: part.Locator}})
	same(t, coverageOf(t, s, "lists").GapOpen, false)
	var done []slice.GapRef
	for _, g := range leaseGaps(t, s, l, 1, later) {
		done = append(done, refOf(g))
	}
	same(t, len(done), 2)
	same(t, coverageOf(t, s, Stream).GapOpen, true)
	commit(t, s, l, slice.Slice{Recovered: done}, later)
	same(t, coverageOf(t, s, Stream).GapOpen, false)
	same(t, len(coverageOf(t, s, Stream).RangeGaps)+len(coverageOf(t, s, "lists").RangeGaps), 0)
	report(t, s, l, later, gone)
	same(t, coverageOf(t, s, Stream).GapOpen, true)

	// The cursor of a walk through history exists until the walk ends.
	mark := func(v string) {
		commit(t, s, l, slice.Slice{Cursors: []slice.Cursor{{Stream: "lists", Mode: protocol.CatchUp,
			Cursor: jsontext.Value(v)}, {Stream: "lists", Cursor: jsontext.Value(`{"n":1}`)}}}, later)
	}
	mark(`{"before":"2026-01-01T00:00:00Z"}`)
	same(t, coverageOf(t, s, "lists").CatchUp, jsontext.Value(`{"before":"2026-01-01T00:00:00Z"}`))
	mark(`null`)
	same(t, len(coverageOf(t, s, "lists").CatchUp), 0)
	end(store.RunSucceeded, later, `{"streams":[{"stream":"items","checkpoint":"committed","skipped":null}]}`)

	// An undo is reported until a run measures again.
	same(t, coverageOf(t, s, Stream).Undone, false)
	undo := runStart("c", "r4", streams...)
	undo.Trigger = store.TriggerUndo
	l, err := s.StartRun(t.Context(), undo, later)
	ok(t, err)
	finish(t, s, l, later)
	same(t, coverageOf(t, s, Stream).Undone, true)
	again("r5", later)
	end(store.RunSucceeded, later, `{"streams":[{"stream":"items","checkpoint":"committed","skipped":null}]}`)
	same(t, coverageOf(t, s, Stream).Undone, false)

	// Unreadable facts measured nothing.
	again("r6", later)
	end(store.RunSucceeded, later, `{"streams":[{"stream":"items","considered":"many"}]}`)
	same(t, coverageOf(t, s, Stream).Newest, nil)
}
