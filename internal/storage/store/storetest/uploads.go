package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// uploaderOf enrols a device for a binding and returns it as an uploader.
func uploaderOf(t testing.TB, s store.Store, suffix, binding string) store.Uploader {
	t.Helper()
	ok(t, s.CreateDeviceCode(t.Context(), store.DeviceCode{ID: "id_" + suffix, Hash: []byte(suffix), ConnectorID: "notes",
		LocalBinding: binding,
		Status:       store.CodePending, CreatedAt: Now, ExpiresAt: Now.Add(15 * time.Minute)}))
	done, err := s.EnrolDevice(t.Context(), enrolment(suffix, suffix), Now)
	ok(t, err)
	return store.Uploader{DeviceID: done.Source.DeviceID, CredentialID: "dcred_" + suffix, SourceID: done.Source.ID,
		Generation:   done.Source.Generation,
		ConnectionID: done.Source.ConnectionID, ConnectorID: "notes", Streams: []store.StreamSpec{{Name: Stream}}}
}

// batchOf returns an upload of records under a number, which also names the batch and the run that it may open.
func batchOf(u store.Uploader, seq int64, records ...slice.Record) store.Upload {
	u.RunID = fmt.Sprintf("run_%s_%d", u.SourceID, seq)
	out := store.Upload{Uploader: u, Receipt: &store.Receipt{DeviceID: u.DeviceID, SourceID: u.SourceID,
		BatchID: fmt.Sprint("b", seq), BatchSeq: seq,
		BodyHash: fmt.Sprint("hash ", seq), Records: int64(len(records)), Answer: fmt.Appendf(nil, `{"seq": %d}`, seq)}}
	out.Records = records
	return out
}

func upload(t testing.TB, s store.Store, u store.Upload, at time.Time) store.Committed {
	t.Helper()
	done, err := s.CommitUpload(t.Context(), u, at)
	ok(t, err)
	return done
}

// emitted returns a live record that was emitted some seconds after Now.
func emitted(key, value string, seconds int) slice.Record {
	r := live(key, value)
	r.EmittedAt = Now.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339)
	return r
}

func testUploads(t *testing.T, s store.Store) {
	ctx := t.Context()
	u := uploaderOf(t, s, "1", "home")
	first := batchOf(u, 1, live("a", "1"), live("b", "1"))
	first.Cursors = []slice.Cursor{{Stream: Stream, Cursor: []byte(`{"n":2}`)}}
	first.Gaps = []slice.Gap{{Stream: Stream, RecordKey: "c", Reason: "line_too_long", Retryable: true}}
	first.Events = []slice.Event{{Type: "run.batch_ingested"}}
	same(t, upload(t, s, first, Now), store.Committed{Written: 2})
	got, err := s.Receipt(ctx, u.DeviceID, "b1")
	ok(t, err)
	want := *first.Receipt
	want.CreatedAt = Now.Truncate(time.Microsecond)
	same(t, got, want)
	_, err = s.Receipt(ctx, "another", "b1")
	fails(t, err, store.ErrNotFound)

	_, err = s.CommitUpload(ctx, first, Now)
	fails(t, err, store.ErrExists) // a repetition changes nothing
	ahead := batchOf(u, 2, live("d", "1"))
	ahead.After = "b9"
	_, err = s.CommitUpload(ctx, ahead, Now)
	fails(t, err, store.ErrCursorAhead)
	same(t, len(changes(t, s, u.ConnectionID)), 2)
	ahead.After = "b1"
	ahead.Attempts = []slice.GapRef{{GapID: store.GapID(u.ConnectionID, "", first.Gaps[0])}, {GapID: "gap_none"}}
	upload(t, s, ahead, Now.Add(time.Minute))

	run, err := s.Run(ctx, "run_dsrc_1_1")
	ok(t, err)
	same(t, []any{run.Trigger, run.Status, run.RecordsEmitted}, []any{store.TriggerDevice, store.RunRunning, int64(3)})
	_, err = s.Run(ctx, "run_dsrc_1_2")
	fails(t, err, store.ErrNotFound) // the first continues
	gap, err := s.Gap(ctx, ahead.Attempts[0].GapID)
	ok(t, err)
	same(t, []any{gap.AttemptCount, gap.Status, gap.DiscoveredRun}, []any{1, protocol.GapPending, "run_dsrc_1_1"})

	last := batchOf(u, 3, live("c", "1"))
	last.Recovered = ahead.Attempts
	last.Ends = &store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}
	last.Terminal = &store.TerminalReceipt{SourceID: u.SourceID, CommitID: "t1", RunID: "theirs", EnvelopeHash: "e",
		Answer: []byte(`{}`)}
	upload(t, s, last, Now.Add(2*time.Minute))
	if run, err = s.Run(ctx, "run_dsrc_1_1"); err != nil || run.Status != store.RunSucceeded || run.RecordsEmitted != 4 {
		t.Errorf("ended as %+v, %v", run, err)
	}
	if gap, err = s.Gap(ctx, gap.ID); err != nil || gap.Status != protocol.GapRecovered {
		t.Errorf("the gap is %s, %v", gap.Status, err)
	}
	committed, err := s.TerminalReceipt(ctx, u.SourceID, "t1")
	ok(t, err)
	same(t, []string{committed.EnvelopeHash, committed.RunID, string(committed.Answer)}, []string{"e", "theirs", "{}"})
	source, err := s.DeviceSource(ctx, u.SourceID)
	ok(t, err)
	same(t, source.MaxBatchSeq, 3)

	pruned, err := s.PruneReceipts(ctx, Now.Add(time.Second), 1)
	ok(t, err)
	same(t, pruned, 2) // one for its age, one of two for their number
	_, err = s.Receipt(ctx, u.DeviceID, "b3")
	ok(t, err)
}

// testUploadFence checks that a source that may no longer write changes nothing, whichever part was revoked.
func testUploadFence(t *testing.T, s store.Store) {
	ctx := t.Context()
	refused := func(u store.Uploader) {
		t.Helper()
		_, err := s.CommitUpload(ctx, batchOf(u, 7, live("x", "1")), Now)
		fails(t, err, store.ErrUploaderGone)
		fails(t, s.PutHeartbeat(ctx, store.DeviceHeartbeat{Uploader: u, Status: "healthy"}, Now), store.ErrUploaderGone)
		_, err = s.LeaseDeviceGaps(ctx, u, 1, Now)
		fails(t, err, store.ErrUploaderGone)
	}
	u := uploaderOf(t, s, "1", "home")
	upload(t, s, batchOf(u, 1, live("a", "1")), Now)
	for name, wrong := range map[string]func(*store.Uploader){
		"generation": func(u *store.Uploader) { u.Generation++ }, "device": func(u *store.Uploader) { u.DeviceID = "dexp_9" },
		"token":  func(u *store.Uploader) { u.CredentialID = "dcred_9" },
		"source": func(u *store.Uploader) { u.SourceID = "dsrc_9" },
	} {
		another := u
		wrong(&another)
		t.Log(name)
		refused(another)
	}
	conn, err := s.Connection(ctx, u.ConnectionID)
	ok(t, err)
	conn.Status = store.ConnectionPaused
	ok(t, s.UpdateConnection(ctx, conn))
	refused(u)
	conn.Status = store.ConnectionActive
	ok(t, s.UpdateConnection(ctx, conn))
	second := uploaderOf(t, s, "2", "home")
	same(t, second.ConnectionID, u.ConnectionID)
	refused(u) // another device replaced it
	upload(t, s, batchOf(second, 1, live("b", "1")), Now)
	_, err = s.RevokeDevice(ctx, second.DeviceID, Now)
	ok(t, err)
	refused(second)
	third := uploaderOf(t, s, "3", "home")
	start(t, s, u.ConnectionID, "ours", Now)
	_, err = s.CommitUpload(ctx, batchOf(third, 1, live("c", "1")), Now)
	fails(t, err, store.ErrRunActive)
	same(t, len(changes(t, s, u.ConnectionID)), 2)
}

// testUploadLate checks that a late batch undoes nothing with a newer emission time.
func testUploadLate(t *testing.T, s store.Store) {
	u := uploaderOf(t, s, "1", "home")
	upload(t, s, batchOf(u, 1, emitted("kept", "first", 1), emitted("again", "x", 1), emitted("old", "first", 1)), Now)
	upload(t, s, batchOf(u, 5, emitted("kept", "newer", 5), emitted("again", "x", 5)), Now)
	same(t, record(t, s, u.ConnectionID, "again").Version, 1) // the same content is no change
	late := batchOf(u, 3, emitted("kept", "late", 3), emitted("again", "y", 3), emitted("old", "later", 3),
		emitted("new", "late", 3))
	late.Gaps = []slice.Gap{{Stream: Stream, RecordKey: "gone", Reason: "vanished", Retryable: true}}
	same(t, upload(t, s, late, Now), store.Committed{Written: 2})
	for key, want := range map[string]string{"kept": "newer", "again": "x", "old": "later", "new": "late"} {
		if got := string(record(t, s, u.ConnectionID, key).Data); got != fmt.Sprintf(`{"v":%q}`, want) {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	close := batchOf(u, 6)
	close.Recovered = []slice.GapRef{{GapID: store.GapID(u.ConnectionID, "", late.Gaps[0])}}
	upload(t, s, close, Now)
	again := batchOf(u, 2)
	again.Gaps = late.Gaps
	upload(t, s, again, Now)
	gap, err := s.Gap(t.Context(), close.Recovered[0].GapID)
	ok(t, err)
	same(t, gap.Status, protocol.GapRecovered)
}

// testUploadModel compares uploads that come twice, late, in any order and in conflict with a map.
//
//pdpp:tier unraced TestStore/UploadModel
func testUploadModel(t *testing.T, s store.Store) {
	const batches, keys = 120, 6
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	u := uploaderOf(t, s, "1", "home")
	type value struct {
		data string
		at   int
	}
	stored, received, highest := map[string]value{}, map[int64]bool{}, int64(0)
	for n := range batches {
		seq := int64(max(1, n+1-r.IntN(8)))
		var records []slice.Record
		for range r.IntN(4) {
			records = append(records, emitted(fmt.Sprint("k", r.IntN(keys)), fmt.Sprint(r.IntN(3)), n-r.IntN(10)))
		}
		_, err := s.CommitUpload(t.Context(), batchOf(u, seq, records...), Now)
		if received[seq] {
			fails(t, err, store.ErrExists)
			continue
		}
		ok(t, err)
		received[seq] = true
		late := seq < highest
		highest = max(highest, seq)
		last := map[string]slice.Record{}
		for _, rec := range records {
			last[rec.Key] = rec
		}
		for key, rec := range last {
			at, err := time.Parse(time.RFC3339, rec.EmittedAt)
			ok(t, err)
			is := value{string(rec.Data), int(at.Sub(Now.Truncate(time.Second)) / time.Second)}
			had, found := stored[key]
			switch {
			case late && found && had.at > is.at: // late
			case found && had.data == is.data:
				stored[key] = value{had.data, max(had.at, is.at)}
			default:
				stored[key] = is
			}
		}
	}
	got := map[string]string{}
	for _, rec := range changes(t, s, u.ConnectionID) {
		got[rec.Key] = string(rec.Data)
	}
	want := map[string]string{}
	for key, v := range stored {
		want[key] = v.data
	}
	t.Log("seed", seed)
	same(t, got, want)
}
