package storetest

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// testSliceRedelivery commits a slice again, as after an unknown outcome.
func testSliceRedelivery(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	put(t, s, l, live("a", "0"))
	part := slice.Slice{
		Records: []slice.Record{live("a", "1"), live("b", "1"), tombstone("c")},
		Gaps:    []slice.Gap{missingGap("g")},
		Cursors: []slice.Cursor{{Stream: Stream, Cursor: []byte(`{"n":1}`)}},
	}
	same(t, commit(t, s, l, part, Now), store.Committed{Written: 3})
	before := everything(t, s, "c")
	same(t, commit(t, s, l, part, Now), store.Committed{Unchanged: 3})
	after := everything(t, s, "c")
	after.Streams[0].LastSeq = before.Streams[0].LastSeq // numbers may be skipped
	same(t, after, before)
}

// testSliceRollback checks that one invalid part prevents the whole slice.
func testSliceRollback(t *testing.T, s store.Store) {
	t.Attr("spec", "PB-A07")
	l := begin(t, s, "c", "r1")
	commit(t, s, l, slice.Slice{
		Records: []slice.Record{live("a", "1")},
		Gaps:    []slice.Gap{missingGap("g"), missingGap("h")},
		Cursors: []slice.Cursor{{Stream: Stream, Cursor: []byte(`{"n":1}`)}},
	}, Now)
	leased := leaseGaps(t, s, l, 1, Now)
	before := everything(t, s, "c")

	good := slice.Slice{
		Records:   []slice.Record{live("a", "2"), live("b", "1")},
		Gaps:      []slice.Gap{missingGap("i")},
		Attempts:  []slice.GapRef{{GapID: leased[0].ID, LeaseID: leased[0].LeaseID}},
		Recovered: []slice.GapRef{{GapID: leased[0].ID, LeaseID: leased[0].LeaseID}},
		Cursors:   []slice.Cursor{{Stream: Stream, Cursor: []byte(`{"n":2}`)}},
		Events:    []slice.Event{{Type: "run.state_advanced"}},
	}
	swapped := slice.GapRef{GapID: leased[0].ID, LeaseID: leased[1].LeaseID}
	for name, c := range map[string]struct {
		spoil func(*slice.Slice)
		want  error
	}{
		"attempt under another gap's token": {func(s *slice.Slice) { s.Attempts = append(s.Attempts, swapped) },
			store.ErrGapLease},
		"recovery under another gap's token": {func(s *slice.Slice) { s.Recovered = append(s.Recovered, swapped) },
			store.ErrGapLease},
		"re-deferral under an invented token": {func(s *slice.Slice) {
			s.Gaps = append(s.Gaps, slice.Gap{Stream: Stream, GapID: leased[1].ID, LeaseID: "invented", Retryable: true})
		}, store.ErrGapLease},
		"attempt at an unknown gap": {func(s *slice.Slice) {
			s.Attempts = append(s.Attempts,
				slice.GapRef{GapID: "gap_0", LeaseID: "x"})
		}, store.ErrGapLease},
		"recovery of an unknown gap": {func(s *slice.Slice) {
			s.Recovered = append(s.Recovered,
				slice.GapRef{GapID: "gap_0"})
		}, store.ErrNotFound},
		"cursor of a stream not declared": {func(s *slice.Slice) {
			s.Cursors = append(s.Cursors,
				slice.Cursor{Stream: "x"})
		}, store.ErrUnknownStream},
		"record of a stream not declared": {func(s *slice.Slice) {
			s.Records = append(s.Records,
				slice.Record{Stream: "x", Key: "k"})
		}, store.ErrUnknownStream},
		"gap of a stream that was not declared": {func(s *slice.Slice) { s.Gaps = append(s.Gaps, slice.Gap{Stream: "x"}) },
			store.ErrUnknownStream},
	} {
		part := good
		part.Records, part.Cursors = append([]slice.Record(nil), good.Records...),
			append([]slice.Cursor(nil), good.Cursors...)
		c.spoil(&part)
		done, err := s.CommitSlice(t.Context(), l, part, Now.Add(time.Second))
		t.Log(name)
		fails(t, err, c.want)
		same(t, done, store.Committed{})
		same(t, everything(t, s, "c"), before)
	}
	same(t, commit(t, s, l, good, Now), store.Committed{Written: 2})
}

// testSliceUndeclaredStream checks that a run cannot write a stream of an earlier run that it did not declare.
func testSliceUndeclaredStream(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	put(t, s, l, live("a", "1"))
	finish(t, s, l, Now)
	l = start(t, s, "c", "r2", Now, store.StreamSpec{Name: "others"})
	_, err := s.CommitSlice(t.Context(), l, slice.Slice{Records: []slice.Record{live("a", "2")}}, Now)
	fails(t, err, store.ErrUnknownStream)
	same(t, string(record(t, s, "c", "a").Data), `{"v":"1"}`)
}

// testSliceCancelled checks that a commit with an ended context happens completely or not at all, and that the store
// continues.
func testSliceCancelled(t *testing.T, s store.Store) {
	l := BeginNumbered(t, s)
	for n := 1; n <= 12; n++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(8000))*time.Microsecond)
		_, err := s.CommitSlice(ctx, l, NumberedSlice(n), Now)
		cancel()
		if err != nil {
			fails(t, err, context.DeadlineExceeded)
			if _, err = s.CommitSlice(t.Context(), l, NumberedSlice(n), Now); err != nil {
				t.Fatal(err)
			}
		}
		same(t, WholeSlices(t, s), n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.CommitSlice(ctx, l, NumberedSlice(13), Now)
	fails(t, err, context.Canceled)
	same(t, WholeSlices(t, s), 12)
}

// testSequenceOrder runs concurrent commits to one stream and reads the change feed meanwhile: a reader that only
// moves forward misses nothing.
func testSequenceOrder(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	const writers, slices, size = 3, 12, 5
	done := make(chan struct{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range slices {
				var records []slice.Record
				for i := range size {
					records = append(records, live(string(rune('a'+w))+string(rune('a'+n))+string(rune('a'+i)), "1"))
				}
				if _, err := s.CommitSlice(t.Context(), l, slice.Slice{Records: records}, Now); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { wg.Wait(); close(done) }()

	seen := map[string]bool{}
	q := store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "c", Stream: Stream}, Limit: 7}
	for last := false; ; {
		page, err := s.Changes(t.Context(), q)
		ok(t, err)
		for _, r := range page {
			if r.Seq <= q.AfterSeq || seen[r.Key] {
				t.Fatalf("record %q has sequence %d after %d", r.Key, r.Seq, q.AfterSeq)
			}
			seen[r.Key], q.AfterSeq = true, r.Seq
		}
		if len(page) > 0 {
			continue
		}
		if last {
			break
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
	same(t, len(seen), writers*slices*size)
}
