package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func testRunLifecycle(t *testing.T, s store.Store) {
	ctx := t.Context()
	connect(t, s, "c")
	_, err := s.ActiveLease(ctx, "c")
	fails(t, err, store.ErrNotFound)
	_, err = s.Run(ctx, "r1")
	fails(t, err, store.ErrNotFound)

	r := runStart("c", "r1")
	r.Trigger, r.RecoveryOnly = store.TriggerScheduled, true
	l, err := s.StartRun(ctx, r, Now)
	ok(t, err)
	same(t, l, store.Lease{ConnectionID: "c", RunID: "r1", Holder: "test", Generation: 1, ExpiresAt: Now.Add(ttl)})
	active, err := s.ActiveLease(ctx, "c")
	ok(t, err)
	same(t, active, l)
	want := store.Run{
		ID: "r1", ConnectionID: "c", ConnectorID: "example", Trigger: store.TriggerScheduled, RecoveryOnly: true,
		Status: store.RunRunning, StartedAt: Now,
	}
	got, err := s.Run(ctx, "r1")
	ok(t, err)
	same(t, got, want)

	end := Now.Add(30 * time.Second)
	ok(t, s.FinishRun(ctx, l, store.RunOutcome{
		Status: store.RunFailed, RecordsEmitted: 7, ReportedRecords: ptr(int64(8)), FailureReason: "run_timed_out",
		TerminalReason: "watchdog", Error: "No progress.", ConnectorError: jsontext.Value(`{"code":"x"}`),
		Checkpoint: jsontext.Value(`{"commit_status":"committed"}`), KnownGaps: jsontext.Value(`[1]`),
		Facts: jsontext.Value(`{"streams": []}`),
		Event: slice.Event{Type: "run.failed", Data: jsontext.Value(`{"a":1}`)},
	}, end))
	want.Status, want.RecordsEmitted, want.ReportedRecords, want.FailureReason = store.RunFailed, 7, ptr(int64(8)),
		"run_timed_out"
	want.TerminalReason, want.Error, want.CompletedAt = "watchdog", "No progress.", &end
	want.ConnectorError, want.Checkpoint = jsontext.Value(`{"code":"x"}`), jsontext.Value(`{"commit_status":"committed"}`)
	want.KnownGaps, want.Facts = jsontext.Value(`[1]`), jsontext.Value(`{"streams": []}`)
	got, err = s.Run(ctx, "r1")
	ok(t, err)
	same(t, got, want)

	_, err = s.ActiveLease(ctx, "c")
	fails(t, err, store.ErrNotFound)
	fails(t, s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded}, end), store.ErrLeaseLost)
	got, err = s.Run(ctx, "r1")
	ok(t, err)
	same(t, got, want)

	again := start(t, s, "c", "r2", end)
	same(t, again.Generation, 2)
}

func testRunStartRefused(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.StartRun(ctx, runStart("nowhere", "r0"), Now)
	fails(t, err, store.ErrNotFound)

	l := begin(t, s, "c", "r1")
	_, err = s.StartRun(ctx, runStart("c", "r2"), Now.Add(ttl-time.Microsecond))
	var active *store.ActiveRunError
	if !errors.As(err, &active) || !errors.Is(err, store.ErrRunActive) {
		t.Fatalf("error is %v, want an *ActiveRunError", err)
	}
	same(t, *active, store.ActiveRunError{ConnectionID: "c", RunID: "r1", Holder: "test", ExpiresAt: l.ExpiresAt})
	_, err = s.Run(ctx, "r2")
	fails(t, err, store.ErrNotFound)

	connect(t, s, "d")
	_, err = s.StartRun(ctx, runStart("d", "r1"), Now)
	fails(t, err, store.ErrExists)
	_, err = s.ActiveLease(ctx, "d")
	fails(t, err, store.ErrNotFound)
	put(t, s, l, live("a", "1"))
}

// testRunEnded checks that a run that is known to have lost its process loses its unexpired lease to the next run,
// and writes nothing more. Naming another run changes nothing.
func testRunEnded(t *testing.T, s store.Store) {
	ctx := t.Context()
	old := begin(t, s, "c", "r1")
	next := runStart("c", "r2")
	next.EndedRun = "r0"
	_, err := s.StartRun(ctx, next, Now)
	fails(t, err, store.ErrRunActive)
	next.EndedRun = "r1"
	l, err := s.StartRun(ctx, next, Now)
	ok(t, err)
	same(t, l.Generation, old.Generation+1)
	_, err = s.CommitSlice(ctx, old, slice.Slice{Records: []slice.Record{live("a", "1")}}, Now)
	fails(t, err, store.ErrLeaseLost)
	ended, err := s.Run(ctx, "r1")
	ok(t, err)
	same(t, ended.Status, store.RunAbandoned)
	same(t, ended.TerminalReason, store.ReasonProcessEnded)
	put(t, s, l, live("a", "2"))
}

func testRunTakeover(t *testing.T, s store.Store) {
	ctx := t.Context()
	old := begin(t, s, "c", "r1")
	commit(t, s, old, slice.Slice{
		Records: []slice.Record{live("a", "1")},
		Gaps:    []slice.Gap{missingGap("g")},
		Events:  []slice.Event{{Type: "run.progress_reported"}},
	}, Now)
	ok(t, s.OpenInteraction(ctx, old, store.Interaction{RequestID: "q", Kind: protocol.AskOTP, OpenedAt: Now}, Now))
	same(t, len(leaseGaps(t, s, old, 1, Now)), 1)
	ok(t, s.RequestCancel(ctx, "r1", Now))

	at := Now.Add(ttl) // the lease ends at this moment
	fresh := start(t, s, "c", "r2", at)
	same(t, fresh.Generation, old.Generation+1)

	r1, err := s.Run(ctx, "r1")
	ok(t, err)
	same(t, r1.Status, store.RunAbandoned)
	same(t, r1.CompletedAt, &at)
	events, err := s.RunEvents(ctx, "r1", 0, 0)
	ok(t, err)
	same(t, eventTypes(events), []string{"1 run.started", "2 run.progress_reported", "3 run.abandoned"})
	g := gapOf(t, s, "c", "g")
	same(t, g.Status, protocol.GapPending)
	same(t, g.LeaseRun, "")
	open, err := s.OpenInteractions(ctx, "")
	ok(t, err)
	same(t, open, nil)

	cancelled, err := s.RenewLease(ctx, fresh, ttl, at)
	ok(t, err)
	same(t, cancelled, false) // the request was for the previous run
	same(t, len(leaseGaps(t, s, fresh, 1, at)), 1)
}

func testRunStartRace(t *testing.T, s store.Store) {
	connect(t, s, "c")
	const starters = 8
	leases, errs := make([]store.Lease, starters), make([]error, starters)
	var wg sync.WaitGroup
	for i := range starters {
		wg.Go(func() { leases[i], errs[i] = s.StartRun(t.Context(), runStart("c", fmt.Sprint("run-", i)), Now) })
	}
	wg.Wait()
	winner := ""
	for i, err := range errs {
		if err == nil {
			same(t, winner, "")
			winner = leases[i].RunID
		}
	}
	for _, err := range errs {
		var active *store.ActiveRunError
		if err != nil && (!errors.As(err, &active) || active.RunID != winner) {
			t.Fatalf("error is %v, want an *ActiveRunError that names %q", err, winner)
		}
	}
	runs, err := s.ListRuns(t.Context(), store.RunQuery{})
	ok(t, err)
	same(t, len(runs), 1)
	same(t, runs[0].ID, winner)
}

func testRunList(t *testing.T, s store.Store) {
	list := func(q store.RunQuery) (ids []string) {
		runs, err := s.ListRuns(t.Context(), q)
		ok(t, err)
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		return ids
	}
	same(t, list(store.RunQuery{}), nil)
	l := begin(t, s, "c", "r1")
	l = next(t, s, l, "r2", Now.Add(time.Second))
	next(t, s, l, "r3", Now.Add(time.Second)) // the same time: the later one is newer
	begin(t, s, "d", "r4")
	same(t, list(store.RunQuery{}), []string{"r3", "r2", "r4", "r1"})
	same(t, list(store.RunQuery{Limit: 2}), []string{"r3", "r2"})
	same(t, list(store.RunQuery{ConnectionID: "d"}), []string{"r4"})
	same(t, list(store.RunQuery{Status: store.RunRunning}), []string{"r3", "r4"})
	same(t, list(store.RunQuery{ConnectionID: "c", Status: store.RunSucceeded}), []string{"r2", "r1"})
}

func testRunEvents(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	at := Now.Add(time.Second)
	commit(t, s, l, slice.Slice{Events: []slice.Event{
		{Type: "run.progress_reported", Stream: Stream, Data: jsontext.Value(`{"n": 1}`), At: Now},
		{Type: "run.state_advanced"},
	}}, at)
	commit(t, s, l, slice.Slice{}, at)
	ok(t, s.FinishRun(ctx, l, store.RunOutcome{
		Status: store.RunSucceeded, Before: []slice.Event{{Type: "run.stream_skipped"}},
		Event: slice.Event{Type: "run.completed"},
	}, at))
	all, err := s.RunEvents(ctx, "r1", 0, 0)
	ok(t, err)
	same(t, eventTypes(all), []string{"1 run.started", "2 run.progress_reported", "3 run.state_advanced",
		"4 run.stream_skipped", "5 run.completed"})
	same(t, all[1], store.Event{Seq: 2, RunID: "r1",
		Event: slice.Event{Type: "run.progress_reported", At: Now, Stream: Stream, Data: jsontext.Value(`{"n": 1}`)}})
	same(t, all[2].At, at) // an event without a time has that of its slice
	page, err := s.RunEvents(ctx, "r1", 1, 2)
	ok(t, err)
	same(t, page, all[1:3])
	none, err := s.RunEvents(ctx, "r9", 0, 0)
	ok(t, err)
	same(t, none, nil)

	last, err := s.LastEvent(ctx, "r1")
	ok(t, err)
	same(t, last, all[4])
	start(t, s, "c", "r2", at)
	last, err = s.LastEvent(ctx, "r2")
	ok(t, err)
	same(t, last.Type, "run.started")
	_, err = s.LastEvent(ctx, "r9")
	fails(t, err, store.ErrNotFound)
}

func testRunCancel(t *testing.T, s store.Store) {
	ctx := t.Context()
	fails(t, s.RequestCancel(ctx, "r1", Now), store.ErrNotFound)
	l := begin(t, s, "c", "r1")
	later := Now.Add(10 * time.Second)
	cancelled, err := s.RenewLease(ctx, l, ttl, later)
	ok(t, err)
	same(t, cancelled, false)
	active, err := s.ActiveLease(ctx, "c")
	ok(t, err)
	same(t, active.ExpiresAt, later.Add(ttl))
	ok(t, s.RequestCancel(ctx, "r1", later))
	cancelled, err = s.RenewLease(ctx, l, ttl, later)
	ok(t, err)
	same(t, cancelled, true)
	finish(t, s, l, later)
	fails(t, s.RequestCancel(ctx, "r1", later), store.ErrNotFound)
}

func eventTypes(events []store.Event) (types []string) {
	for _, e := range events {
		types = append(types, fmt.Sprint(e.Seq, " ", e.Type))
	}
	return types
}
