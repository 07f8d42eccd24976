package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// wait returns a wait that a provider announced at a time.
func wait(sender string, d time.Duration, at time.Time) evidence.SenderWait {
	return evidence.SenderWait{Sender: sender, Until: at.Add(d), Reason: protocol.WaitRetryAfter, At: at}
}

// testWaits checks that a wait outlives its run, blocks every start, is never shortened and ends on its own.
func testWaits(t *testing.T, s store.Store) {
	ctx := t.Context()
	connect(t, s, "c")
	connect(t, s, "other")
	same(t, evidenceOf(t, s, "c").Waits == nil, false) // measured as none
	l := start(t, s, "c", "r1", Now)
	api, search := wait("api", time.Hour, Now), wait("search", time.Minute, Now)
	search.Reason = protocol.WaitSearched
	ok(t, s.PutWait(ctx, l, search, Now))
	ok(t, s.PutWait(ctx, l, api, Now))
	ok(t, s.PutWait(ctx, l, wait("api", time.Minute, Now.Add(time.Second)), Now)) // shorter: the longer one stays
	same(t, evidenceOf(t, s, "c").Waits, []evidence.SenderWait{api, search})
	finish(t, s, l, Now)
	same(t, evidenceOf(t, s, "c").Waits, []evidence.SenderWait{api, search})
	fails(t, s.PutWait(ctx, l, wait("api", 2*time.Hour, Now), Now), store.ErrLeaseLost)

	ok(t, second(s.RequestRun(ctx, store.RunRequest{ConnectionID: "c", Trigger: store.TriggerManual, RequestedAt: Now})))
	for _, trigger := range []store.Trigger{store.TriggerManual, store.TriggerRetry, store.TriggerScheduled,
		store.TriggerWebhook} {
		r := runStart("c", "early")
		r.Trigger = trigger
		_, err := s.StartRun(ctx, r, api.Until.Add(-time.Microsecond))
		var held *store.WaitError
		if !errors.As(err, &held) || !errors.Is(err, store.ErrWaiting) || !store.IsPermanentError(err) {
			t.Fatalf("a %s run within the wait: %v", trigger, err)
		}
		same(t, *held, store.WaitError{Sender: "api", Until: api.Until, Reason: protocol.WaitRetryAfter})
	}
	fails(t, second(s.Run(ctx, "early")), store.ErrNotFound)
	fails(t, second(s.ActiveLease(ctx, "c")), store.ErrNotFound)
	ok(t, second(s.RunRequest(ctx, "c"))) // it waits as well
	finish(t, s, start(t, s, "other", "r2", Now), Now)

	l = start(t, s, "c", "r3", api.Until)
	same(t, len(evidenceOf(t, s, "c").Waits), 2) // they stay until they are replaced
	again := wait("api", time.Second, api.Until)
	ok(t, s.PutWait(ctx, l, again, api.Until))
	same(t, evidenceOf(t, s, "c").Waits, []evidence.SenderWait{again, search})
	same(t, evidenceOf(t, s, "other").Waits, nil)
	e := evidenceOf(t, s, "c")
	same(t, e.ActiveWait(api.Until), &again)
	same(t, e.ActiveWait(again.Until), nil)
}

// testAskAnyway checks that AskAnyway ends the waits in the start itself, and that a failed start ends none.
func testAskAnyway(t *testing.T, s store.Store) {
	ctx := t.Context()
	connect(t, s, "c")
	l := start(t, s, "c", "r1", Now)
	ok(t, s.PutWait(ctx, l, wait("api", time.Hour, Now), Now))
	later := Now.Add(time.Hour)
	waiting := missingGap("g")
	waiting.NotBefore = &later
	report(t, s, l, Now, waiting)
	anyway := runStart("c", "r2")
	anyway.AskAnyway = true
	fails(t, second(s.StartRun(ctx, anyway, Now)), store.ErrRunActive)
	same(t, len(evidenceOf(t, s, "c").Waits), 1)
	same(t, evidenceOf(t, s, "c").Gaps.Groups[0].Earliest, &later)
	finish(t, s, l, Now)
	l, err := s.StartRun(ctx, anyway, Now)
	ok(t, err)
	same(t, evidenceOf(t, s, "c").Waits, nil)
	same(t, gapKeys(leaseGaps(t, s, l, 1, Now)), []string{"g"})
}

// second returns the error of a call with an ignored result.
func second[T any](_ T, err error) error { return err }

// checkWaits reads a stored wait.
func checkWaits(t *testing.T, s store.Store) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	same(t, evidenceOf(t, s, "c").Waits, []evidence.SenderWait{wait("api", time.Hour, at)})
}
