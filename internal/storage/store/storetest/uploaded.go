package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// passUpload returns an upload that is a whole pass, with its outcome.
func passUpload(u store.Uploader, seq int64, status store.RunStatus, records ...slice.Record) store.Upload {
	up := batchOf(u, seq, records...)
	up.Ends = &store.RunOutcome{Status: status, Event: slice.Event{Type: "run.ended"}}
	return up
}

// testDeviceRunGoesOn checks that the passes of an hour are one run, and that a pass loses no earlier measurement.
func testDeviceRunGoesOn(t *testing.T, s store.Store) {
	ctx := t.Context()
	u := uploaderOf(t, s, "1", "home")
	expect := func(want ...string) {
		t.Helper()
		var got []string
		runs, err := s.ListRuns(ctx, store.RunQuery{ConnectionID: u.ConnectionID})
		ok(t, err)
		for _, r := range runs {
			got = append(got, fmt.Sprint(r.ID, " ", r.Status, " ", r.RecordsEmitted))
		}
		same(t, got, want)
	}
	first := passUpload(u, 1, store.RunSucceeded, live("a", "1"))
	first.Ends.Facts = []byte(`{"streams": []}`)
	upload(t, s, first, Now)
	upload(t, s, passUpload(u, 2, store.RunSucceeded, live("b", "1"), live("a", "2")), Now.Add(10*time.Minute))
	expect("run_dsrc_1_1 succeeded 3")
	run, err := s.Run(ctx, "run_dsrc_1_1")
	ok(t, err)
	same(t, []any{string(run.Facts), run.StartedAt, *run.CompletedAt},
		[]any{`{"streams": []}`, Now.Truncate(time.Microsecond), Now.Add(10 * time.Minute).Truncate(time.Microsecond)})
	events, err := s.RunEvents(ctx, run.ID, 0, 100)
	ok(t, err)
	same(t, len(events), 3) // it started once and ended twice

	upload(t, s, batchOf(u, 3, live("c", "1")), Now.Add(20*time.Minute))
	_, err = s.AbandonExpiredRuns(ctx, Now.Add(40*time.Minute), 10)
	ok(t, err)
	expect("run_dsrc_1_1 succeeded 4") // a closed lid changes nothing
	upload(t, s, passUpload(u, 4, store.RunFailed, live("d", "1")), Now.Add(41*time.Minute))
	expect("run_dsrc_1_4 failed 0", "run_dsrc_1_1 succeeded 5") // a failure is a separate run
	again := passUpload(u, 5, store.RunSucceeded)
	again.Gaps = []slice.Gap{{Stream: Stream, RecordKey: "x", Reason: "unreadable", Retryable: true}}
	upload(t, s, again, Now.Add(42*time.Minute))
	u.RunID = "run_gaps"
	leased, err := s.LeaseDeviceGaps(ctx, u, 10, Now.Add(43*time.Minute))
	ok(t, err)
	same(t, len(leased), 1) // each pass tries what is missing
	fixed := passUpload(u, 6, store.RunSucceeded, live("x", "1"))
	fixed.Recovered = []slice.GapRef{{GapID: leased[0].ID}}
	upload(t, s, fixed, Now.Add(43*time.Minute))
	expect("run_dsrc_1_5 succeeded 1", "run_dsrc_1_4 failed 0", "run_dsrc_1_1 succeeded 5")
	missed := passUpload(u, 7, store.RunSucceeded)
	missed.Gaps = again.Gaps
	upload(t, s, missed, Now.Add(44*time.Minute))
	g, err := s.Gap(ctx, leased[0].ID)
	ok(t, err)
	// and it may be reported again
	same(t, []any{g.Status, g.DiscoveredRun}, []any{protocol.GapPending, "run_dsrc_1_7"})
	upload(t, s, passUpload(u, 8, store.RunSucceeded, live("y", "1")), Now.Add(105*time.Minute))
	expect("run_dsrc_1_8 succeeded 1", "run_dsrc_1_7 succeeded 0", "run_dsrc_1_5 succeeded 1", "run_dsrc_1_4 failed 0",
		"run_dsrc_1_1 succeeded 5")
	asked := store.DeviceHeartbeat{Uploader: u, Status: "starting", Opens: true}
	asked.RunID = "run_asked"
	ok(t, s.PutHeartbeat(ctx, asked, Now.Add(106*time.Minute)))
	run, err = s.Run(ctx, "run_asked")
	ok(t, err)
	same(t, run.Status, store.RunRunning) // a requested run is visible
}

// testUploadedSince checks that records sent by a source since a time are found with their previous state from any
// writer.
func testUploadedSince(t *testing.T, s store.Store) {
	ctx := t.Context()
	u := uploaderOf(t, s, "1", "home")
	upload(t, s, passUpload(u, 1, store.RunSucceeded, live("kept", "1"), live("changed", "1"), live("gone", "1"),
		live("stays", "1")), Now)
	since := Now.Add(time.Hour)
	later := batchOf(u, 2, live("changed", "2"), live("new", "1"), tombstone("gone"))
	later.Gaps = []slice.Gap{{Stream: Stream, RecordKey: "lost", Reason: "unreadable", Retryable: true}}
	upload(t, s, later, since)
	upload(t, s, batchOf(u, 3, live("changed", "3"), live("taken", "1")), since.Add(time.Minute))
	fixed := passUpload(u, 4, store.RunSucceeded)
	fixed.Recovered = []slice.GapRef{{GapID: store.GapID(u.ConnectionID, "", later.Gaps[0])}}
	upload(t, s, fixed, since.Add(2*time.Minute))
	other := uploaderOf(t, s, "2", "home") // takes it over
	upload(t, s, passUpload(other, 5, store.RunSucceeded, live("taken", "2"), live("theirs", "1")),
		since.Add(3*time.Minute))

	found := map[string]string{}
	for after := int64(0); ; {
		page, err := s.UploadedSince(ctx, u.SourceID, since, after, 1)
		ok(t, err)
		if len(page) == 0 {
			break
		}
		after = page[0].ID
		found[page[0].Key] = string(page[0].Before.Data)
		same(t, page[0].Before.Deleted(), page[0].Before.Data == nil)
	}
	same(t, found, map[string]string{"changed": string(live("changed", "1").Data), "new": "",
		"gone": string(live("gone", "1").Data)})
	gaps, err := s.RecoveredSince(ctx, u.SourceID, since)
	ok(t, err)
	if len(gaps) != 1 || gaps[0].RecordKey != "lost" {
		t.Errorf("closed since then: %+v", gaps)
	}
	none, err := s.RecoveredSince(ctx, other.SourceID, since)
	ok(t, err)
	same(t, len(none), 0)
}
