package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// beatOf returns a heartbeat with a status.
func beatOf(u store.Uploader, run, status string) store.DeviceHeartbeat {
	u.RunID = run
	b := store.DeviceHeartbeat{Uploader: u, Status: status, AgentVersion: "1.1", ProtocolVersion: "1"}
	if status == "healthy" {
		b.Ends = &store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}
	}
	return b
}

// runsOf returns the runs of a connection as status and reason, oldest first.
func runsOf(t *testing.T, s store.Store, connection string) (out []string) {
	t.Helper()
	runs, err := s.ListRuns(t.Context(), store.RunQuery{ConnectionID: connection})
	ok(t, err)
	for _, r := range runs {
		out = append(out, string(r.Status)+" "+r.TerminalReason)
	}
	slices.Reverse(out)
	return out
}

// testDeviceRuns checks that a device's run ends with its report, and is not a failure when the device stops
// reporting.
func testDeviceRuns(t *testing.T, s store.Store) {
	ctx := t.Context()
	u := uploaderOf(t, s, "1", "home")
	seen := func() evidence.Evidence {
		t.Helper()
		found, err := s.Evidence(ctx, evidence.Query{ConnectionIDs: []string{u.ConnectionID}})
		ok(t, err)
		return found[0]
	}
	at := Now
	upload(t, s, batchOf(u, 1, live("a", "1")), at)
	if e := seen(); e.Active != nil || e.LastRun != nil {
		t.Errorf("while it delivers: %+v %+v", e.Active, e.LastRun)
	}
	at = at.Add(10 * time.Minute)
	ok(t, s.PutHeartbeat(ctx, beatOf(u, "", "retrying"), at)) // extends it
	at = at.Add(10 * time.Minute)
	upload(t, s, batchOf(u, 2, live("b", "1")), at)
	at = at.Add(16 * time.Minute)
	ended, err := s.AbandonExpiredRuns(ctx, at, 10)
	ok(t, err)
	same(t, len(ended), 1)
	same(t, runsOf(t, s, u.ConnectionID), []string{"abandoned device_silent"})
	if e := seen(); e.LastRun != nil || e.LastSuccessAt != nil {
		t.Errorf("after the lid was closed: %+v %v", e.LastRun, e.LastSuccessAt)
	}
	upload(t, s, batchOf(u, 3, live("c", "1")), at) // an ended run rejects nothing
	ok(t, s.PutHeartbeat(ctx, beatOf(u, "", "healthy"), at.Add(time.Second)))
	same(t, runsOf(t, s, u.ConnectionID)[1:], []string{"succeeded "})
	if e := seen(); e.LastRun != nil || e.LastSuccessAt == nil {
		t.Errorf("after it delivered: %+v %v", e.LastRun, e.LastSuccessAt)
	}
	failed := store.Upload{Uploader: u,
		Ends: &store.RunOutcome{Status: store.RunFailed, FailureReason: "connector_child_failure",
			TerminalReason: "connector", Event: slice.Event{Type: "run.failed"}}}
	failed.RunID = "run_failed"
	failed.Gaps = []slice.Gap{{Stream: store.EveryStream, Reason: "connector_child_failure", Retryable: true,
		Locator: []byte(`{}`)}}
	upload(t, s, failed, at.Add(time.Minute))
	if e := seen(); e.LastRun == nil || e.LastRun.Status != evidence.RunFailed {
		t.Errorf("after the connector failed: %+v", e.LastRun)
	}
	ok(t, s.PutHeartbeat(ctx, beatOf(u, "run_well", "healthy"), at.Add(2*time.Minute)))
	if e := seen(); e.LastRun != nil {
		t.Errorf("a pass without news leaves %+v", e.LastRun)
	}
	ok(t, s.PutHeartbeat(ctx, beatOf(u, "run_none", "healthy"), at.Add(3*time.Minute))) // once is enough
	_, err = s.RequestRun(ctx, store.RunRequest{ConnectionID: u.ConnectionID, Trigger: store.TriggerManual,
		RequestedAt: at})
	ok(t, err)
	asked := beatOf(u, "run_asked", "starting")
	asked.Opens = true
	ok(t, s.PutHeartbeat(ctx, asked, at.Add(4*time.Minute)))
	_, err = s.RunRequest(ctx, u.ConnectionID)
	fails(t, err, store.ErrNotFound)
	measured := store.Upload{Uploader: u,
		Ends: &store.RunOutcome{Status: store.RunSucceeded,
			Facts: []byte(`{"streams":[{"stream":"items","considered":2,"covered":1}]}`),
			Event: slice.Event{Type: "run.completed"}}}
	upload(t, s, measured, at.Add(5*time.Minute))
	if e := seen(); e.LastRun == nil || e.LastRun.ID != "run_asked" {
		t.Errorf("a run that measured has a say: %+v", e.LastRun)
	}
	same(t, runsOf(t, s, u.ConnectionID)[2:], []string{"failed connector", "succeeded ", "succeeded "})
}

// testHeartbeatNews checks that a heartbeat counts as changed only when its content differs.
func testHeartbeatNews(t *testing.T, s store.Store) {
	ctx := t.Context()
	u := uploaderOf(t, s, "1", "home")
	at := Now
	say := func(news bool, after time.Duration, change func(*store.DeviceHeartbeat)) {
		t.Helper()
		postpone(t, s, farFuture)
		b := beatOf(u, "", "retrying")
		if change != nil {
			change(&b)
		}
		at = at.Add(after)
		ok(t, s.PutHeartbeat(ctx, b, at))
		if got := len(claimAllChecks(t, s, Now)) > 0; got != news {
			t.Errorf("after %s: news %v, want %v", after, got, news)
		}
	}
	say(true, 0, nil)
	say(false, time.Minute, nil)
	say(true, time.Minute, func(b *store.DeviceHeartbeat) { b.RecordsPending = ptr(int64(3)) })
	say(false, time.Minute, func(b *store.DeviceHeartbeat) {
		b.RecordsPending, b.ClockSkew = ptr(int64(3)),
			ptr(90*time.Second)
	})
	say(true, time.Minute, func(b *store.DeviceHeartbeat) { b.Outbox = []byte(`{"pending":1}`) })
	say(true, time.Hour, func(b *store.DeviceHeartbeat) { b.Outbox = []byte(`{"pending":1}`) })
	source, err := s.DeviceSource(ctx, u.SourceID)
	ok(t, err)
	device, err := s.Device(ctx, u.DeviceID)
	ok(t, err)
	same(t, []any{source.LastHeartbeatStatus, *source.LastHeartbeatAt, device.AgentVersion, *device.LastHeartbeatAt,
		source.ClockSkew == nil},
		[]any{"retrying", at.Truncate(time.Microsecond), "1.1", at.Truncate(time.Microsecond), true})
}

// testDeviceGaps checks that gaps are leased to a device for as long as its run, and that its reports about them need
// no token.
func testDeviceGaps(t *testing.T, s store.Store) {
	ctx := t.Context()
	u := uploaderOf(t, s, "1", "home")
	u.RunID = "run_gaps"
	none, err := s.LeaseDeviceGaps(ctx, u, 10, Now)
	ok(t, err)
	same(t, len(none)+len(runsOf(t, s, u.ConnectionID)), 0)
	first := batchOf(u, 1)
	for n := range 3 {
		first.Gaps = append(first.Gaps, slice.Gap{Stream: Stream, RecordKey: fmt.Sprint("k", n), Reason: "unreadable",
			Retryable: true})
	}
	first.Gaps = append(first.Gaps, slice.Gap{Stream: store.EveryStream, Reason: "policy_budget", Retryable: true,
		Locator: []byte(`{}`)})
	upload(t, s, first, Now)
	leased, err := s.LeaseDeviceGaps(ctx, u, 2, Now)
	ok(t, err)
	same(t, len(leased), 2)
	rest, err := s.LeaseDeviceGaps(ctx, u, 10, Now)
	ok(t, err)
	same(t, len(rest), 1)
	done := batchOf(u, 2, live(leased[0].RecordKey, "there"))
	done.Recovered = []slice.GapRef{{GapID: leased[0].ID}}
	done.Attempts = []slice.GapRef{{GapID: leased[1].ID}, {GapID: leased[1].ID}}
	done.Ends = &store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}
	upload(t, s, done, Now)
	for id, want := range map[string][]any{leased[0].ID: {protocol.GapRecovered, 0},
		leased[1].ID: {protocol.GapPending, 1}, rest[0].ID: {protocol.GapPending, 0}} {
		g, err := s.Gap(ctx, id)
		ok(t, err)
		same(t, []any{g.Status, g.AttemptCount}, want)
	}
	u.RunID = "run_gaps_2"
	again, err := s.LeaseDeviceGaps(ctx, u, 10, Now)
	ok(t, err)
	same(t, len(again), 2) // the end of the run released them
	rejected := batchOf(u, 4)
	rejected.Gaps = []slice.Gap{{Stream: Stream, RecordKey: "odd", Reason: protocol.ReasonRecordRejected, Retryable: true}}
	upload(t, s, rejected, Now)
	upload(t, s, batchOf(u, 5, live("odd", "fixed")), Now.Add(time.Second))
	g, err := s.Gap(ctx, store.GapID(u.ConnectionID, "", rejected.Gaps[0]))
	ok(t, err)
	same(t, g.Status, protocol.GapRecovered) // it was delivered later
}
