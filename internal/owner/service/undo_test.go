package service

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// UndoDevice reverts what a compromised device sent. Changed and deleted records are restored, added records are
// deleted, and closed gaps are open again. The next collector reads the data again. History stays, and a second call
// changes nothing.
func TestUndoDevice(t *testing.T) {
	b := newServiceHarness(t)
	made, err := b.AddDevice(b.ctx(), api.NewDevice{ConnectorID: "letters"})
	b.requireNoError(err)
	src := b.enrol(made, "1")
	seq := int64(0)
	send := func(cursor string, recovered []slice.GapRef, gaps []slice.Gap, records ...slice.Record) {
		t.Helper()
		seq++
		up := store.Upload{Uploader: store.Uploader{DeviceID: src.DeviceID, CredentialID: "dcred_1", SourceID: src.ID,
			Generation: src.Generation, ConnectionID: src.ConnectionID,
			ConnectorID: "letters", RunID: fmt.Sprint("run_", seq), Streams: []store.StreamSpec{{Name: "letters"}}}}
		up.Records, up.Gaps, up.Recovered = records, gaps, recovered
		up.Cursors = []slice.Cursor{{Stream: "letters", Mode: protocol.SteadyState, Cursor: jsontext.Value(cursor)}}
		up.Ends = &store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}
		_, err := b.Store.CommitUpload(b.ctx(), up, b.at)
		b.requireNoError(err)
	}
	letter := func(key, text string) slice.Record {
		return slice.Record{Stream: "letters", Key: key, Data: fmt.Appendf(nil, `{"id":%q,"text":%q}`, key, text),
			EmittedAt: b.at.Format(time.RFC3339)}
	}
	lost := slice.Gap{Stream: "letters", RecordKey: "lost", Reason: "unreadable", Retryable: true}
	send(`{"n":3}`, nil, []slice.Gap{lost}, letter("kept", "mine"), letter("changed", "mine"), letter("gone", "mine"))
	b.at = b.at.Add(2 * time.Hour)
	since := b.at
	send(`{"n":5}`, nil, nil, letter("changed", "false"), letter("added", "false"))
	b.at = b.at.Add(2 * time.Hour)
	send(`{"n":9}`, []slice.GapRef{{GapID: store.GapID(src.ConnectionID, "", lost)}}, nil,
		letter("changed", "falser"), slice.Record{Stream: "letters", Key: "gone", Op: protocol.OpDelete,
			EmittedAt: b.at.Format(time.RFC3339)})

	_, err = b.UndoDevice(b.ctx(), "dexp_9", since)
	wantError(t, err, api.CodeNotFound, "")
	_, err = b.UndoDevice(b.ctx(), "dexp_1", since)
	wantError(t, err, "device_active", "") // it would only send again
	b.requireNoError(b.RevokeDevice(b.ctx(), "dexp_1"))
	_, err = b.UndoDevice(b.ctx(), "dexp_1", b.at.Add(time.Hour))
	wantError(t, err, api.CodeInvalid, "since")

	done, err := b.UndoDevice(b.ctx(), "dexp_1", since)
	b.requireNoError(err)
	if done.Restored != 2 || done.Deleted != 1 || done.Bookmarks != 1 || done.Gaps != 1 || len(done.RunIDs) != 1 {
		t.Errorf("taken back: %+v", done)
	}
	for key, want := range map[string]string{"kept": `{"id":"kept","text":"mine"}`,
		"changed": `{"id":"changed","text":"mine"}`, "gone": `{"id":"gone","text":"mine"}`, "added": ""} {
		r, err := b.Store.Record(b.ctx(), src.ConnectionID, "letters", key)
		b.requireNoError(err)
		if string(r.Data) != want || r.Deleted != (want == "") {
			t.Errorf("%s is %s, deleted %t", key, r.Data, r.Deleted)
		}
	}
	versions, err := b.Store.History(b.ctx(), src.ConnectionID, "letters", "changed", 10)
	b.requireNoError(err)
	if len(versions) != 3 {
		t.Errorf("%d earlier versions are left", len(versions))
	}
	cursors, err := b.Store.Cursors(b.ctx(), src.ConnectionID, "")
	b.requireNoError(err)
	if len(cursors) != 1 || string(cursors[0].Cursor) != `{"n":3}` {
		t.Errorf("the next goes on from %+v", cursors)
	}
	gap, err := b.Store.Gap(b.ctx(), store.GapID(src.ConnectionID, "", lost))
	b.requireNoError(err)
	if gap.Status != protocol.GapPending {
		t.Errorf("what it had closed is %s", gap.Status)
	}
	run, err := b.Store.Run(b.ctx(), done.RunIDs[0])
	b.requireNoError(err)
	if run.Trigger != store.TriggerUndo || run.Status != store.RunSucceeded {
		t.Errorf("it happened in %+v", run)
	}
	e, err := b.evidenceOf(b.ctx(), src.ConnectionID)
	b.requireNoError(err)
	if e.LastRun != nil && e.LastRun.ID == run.ID || e.Active != nil {
		t.Errorf("it is judged by %+v, %+v", e.LastRun, e.Active)
	}
	again, err := b.UndoDevice(b.ctx(), "dexp_1", since)
	b.requireNoError(err)
	if again.Restored+again.Deleted+again.Bookmarks+again.Gaps != 0 || len(again.RunIDs) != 0 {
		t.Errorf("a second time: %+v", again)
	}
	all, err := b.DeviceDiagnostics(b.ctx())
	b.requireNoError(err)
	if len(all) != 1 || len(all[0].Diagnostics) != 1 {
		t.Fatalf("diagnosed %+v", all)
	}
	d := all[0].Diagnostics[0]
	if d.SourceID != src.ID || d.LastRunID != run.ID || len(d.Gaps) != 1 ||
		d.Gaps[0] != (api.SourceGapCount{Stream: "letters", Reason: "unreadable", Count: 1}) {
		t.Errorf("diagnosed %+v", d)
	}
}
