package storetest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func testEvidenceRuns(t *testing.T, s store.Store) {
	ctx := t.Context()
	declare(t, s, "c")
	end := func(minutes int) time.Time { return Now.Add(time.Duration(minutes) * time.Minute) }
	run := func(id string, o store.RunOutcome, at time.Time) evidence.Evidence {
		t.Helper()
		l := start(t, s, "c", id, at)
		same(t, evidenceOf(t, s, "c").Active, &evidence.ActiveRun{ID: id, StartedAt: at, LeaseUntil: &l.ExpiresAt})
		o.Event = slice.Event{Type: "run.ended"}
		ok(t, s.FinishRun(ctx, l, o, at.Add(time.Second)))
		e := evidenceOf(t, s, "c")
		same(t, e.Active, nil)
		return e
	}

	e := run("r1", store.RunOutcome{Status: store.RunSucceeded, RecordsEmitted: 5,
		Checkpoint: jsontext.Value(`{"records_flushed":4}`),
		Rate: jsontext.Value(`{"object":"collection_rate","current_interval_ms":250,"ceiling_interval_ms":200,` +
			`"effective_rate_per_min":240,` +
			`"ceiling_rate_per_min":300,"last_backoff":{"at_interval_ms":500,"reason":"rate_limited"}}`)}, end(0))
	same(t, e.LastRun, &evidence.Run{ID: "r1", Status: evidence.RunSucceeded, Trigger: "manual", StartedAt: Now,
		EndedAt:   Now.Add(time.Second),
		Committed: ptr(int64(4)), Recovered: ptr(int64(0))})
	success := Now.Add(time.Second)
	same(t, e.LastSuccessAt, &success)
	same(t, e.Rate, &evidence.Rate{At: success, Pace: evidence.Pace{CurrentIntervalMS: 250, CeilingIntervalMS: 200,
		EffectiveRatePerMin: 240,
		CeilingRatePerMin:   300, LastBackoff: &protocol.RateBackoff{AtIntervalMS: 500, Reason: "rate_limited"}}})

	e = run("r2", store.RunOutcome{Status: store.RunFailed, RecordsEmitted: 6, FailureReason: "connector_reported_failed",
		TerminalReason: "connector",
		Error:          "It was refused.",
		ConnectorError: jsontext.Value(`{"code":"auth_failure","message":"no","recovery_hint":{"action":"refresh_credenti` +
			`als","retryable":false}}`)}, end(1))
	same(t, e.LastRun, &evidence.Run{ID: "r2", Status: evidence.RunFailed, Trigger: "manual", StartedAt: end(1),
		EndedAt:   end(1).Add(time.Second),
		Committed: ptr(int64(6)), Recovered: ptr(int64(0)), Failure: &evidence.Failure{Reason: "connector_reported_failed",
			Origin:  "connector",
			Message: "It was refused.", Code: "auth_failure", Retryable: ptr(false), Action: protocol.RefreshCredentials}})
	same(t, e.LastSuccessAt, &success)
	same(t, e.Rate, nil)

	e = run("r3", store.RunOutcome{Status: store.RunCancelled, ConnectorError: jsontext.Value(`{`)}, end(2))
	same(t, e.LastRun.Status, evidence.RunCancelled)
	same(t, e.LastRun.Failure, nil)
	// a skipped run does not count
	same(t, run("r4", store.RunOutcome{Status: store.RunSkipped}, end(3)).LastRun.ID, "r3")

	// An expired lease still names its run; the next run abandons it.
	start(t, s, "c", "r5", end(4))
	same(t, evidenceOf(t, s, "c").Active.ID, "r5")
	finish(t, s, start(t, s, "c", "r6", end(6)), end(7))
	e = evidenceOf(t, s, "c")
	same(t, e.LastRun.ID, "r6")
	same(t, e.LastSuccessAt, &e.LastRun.EndedAt)
	start(t, s, "c", "r7", end(8))
	start(t, s, "c", "r8", end(10))
	e = evidenceOf(t, s, "c")
	same(t, e.LastRun, &evidence.Run{ID: "r7", Status: evidence.RunAbandoned, Trigger: "manual", StartedAt: end(8),
		EndedAt:   end(10),
		Committed: ptr(int64(0)), Failure: &evidence.Failure{Reason: "lease_expired"}})
	same(t, e.Unreadable, nil)
}

func testEvidenceGaps(t *testing.T, s store.Store) {
	t.Attr("spec", "CH-30.1") // how a run that only filled gaps is recognised
	ctx := t.Context()
	declare(t, s, "c")
	l := start(t, s, "c", "r1", Now, store.StreamSpec{Name: Stream}, store.StreamSpec{Name: "lists"})
	gap := func(stream, key string, reason protocol.Reason, retryable bool, notBefore *time.Time) slice.Gap {
		return slice.Gap{Stream: stream, RecordKey: key, Reason: reason, Retryable: retryable, NotBefore: notBefore}
	}
	soon, later := Now.Add(time.Minute), Now.Add(time.Hour)
	report(t, s, l, Now,
		gap(Stream, "a", protocol.ReasonRateLimited, true, &later), gap(Stream, "b", protocol.ReasonRateLimited, true, &soon),
		gap(Stream, "c", protocol.ReasonRunCapDeferred, true, nil), gap("lists", "d", protocol.ReasonRateLimited, true, nil),
		gap(Stream, "e", protocol.ReasonNotFound, false, nil), gap(Stream, "f", protocol.ReasonGone, false, nil))
	ignored := store.GapID("c", "", gap(Stream, "f", "", false, nil))
	_, err := s.IgnoreGap(ctx, ignored, "It is not mine.", Now)
	ok(t, err)
	want := &evidence.Gaps{
		Groups: []evidence.GapGroup{
			{Stream: Stream, Reason: protocol.ReasonRateLimited, Count: 2, NotBefore: &later, Earliest: &soon},
			{Stream: Stream, Reason: protocol.ReasonRunCapDeferred, Count: 1},
			{Stream: "lists", Reason: protocol.ReasonRateLimited, Count: 1},
		},
		Recovered: ptr(int64(0)), Terminal: ptr(int64(1)),
	}
	same(t, evidenceOf(t, s, "c").Gaps, want)

	finish(t, s, l, Now)
	at := Now.Add(2 * time.Hour)
	l = start(t, s, "c", "r2", at, store.StreamSpec{Name: Stream}, store.StreamSpec{Name: "lists"})
	held := map[string]slice.GapRef{}
	for _, g := range leaseGaps(t, s, l, 1, at) {
		held[g.RecordKey] = refOf(g)
	}
	same(t, len(held), 4)
	same(t, evidenceOf(t, s, "c").Gaps, want) // a run has leased them, and they are still missing
	again := gap(Stream, "b", protocol.ReasonRateLimited, true, nil)
	again.GapID, again.LeaseID = held["b"].GapID, held["b"].LeaseID
	commit(t, s, l, slice.Slice{Gaps: []slice.Gap{again}, Recovered: []slice.GapRef{held["a"], held["c"]}}, at)
	finish(t, s, l, at)
	e := evidenceOf(t, s, "c")
	same(t, e.Gaps, &evidence.Gaps{
		Groups: []evidence.GapGroup{
			{Stream: Stream, Reason: protocol.ReasonRateLimited, Count: 1, MaxAttempts: 1},
			{Stream: "lists", Reason: protocol.ReasonRateLimited, Count: 1},
		},
		Recovered: ptr(int64(1)), Terminal: ptr(int64(1)), // the run's own limit is not pressure
	})
	same(t, e.LastRun.Recovered, ptr(int64(2)))
	same(t, e.LastRun.Committed, ptr(int64(0)))
}
