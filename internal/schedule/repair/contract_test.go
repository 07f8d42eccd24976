package repair

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// Lifecycle of a question: the run that asked continues with the answer. If it fails anyway, one more run is
// requested. If the question was not answered or declined, none is.
func TestQuestions(t *testing.T) {
	asked := func(t *testing.T) (*world, attention.AttentionRecord) {
		w := newWorld()
		w.start()
		w.wait(time.Second)
		w.ask("q1")
		w.look(t)
		return w, w.only(t, "add_info")
	}
	lifecycle := func(w *world, id string) evidence.Lifecycle { return w.records.records[id].Lifecycle }

	w, r := asked(t)
	w.wait(time.Minute)
	w.Attention = nil
	w.look(t)
	if lifecycle(w, r.ID) != evidence.AttentionInProgress {
		t.Errorf("answered, the record is %s", lifecycle(w, r.ID))
	}
	w.end("")
	w.expect(t, NoSatisfiedAction, 0)
	if lifecycle(w, r.ID) != evidence.AttentionResolved {
		t.Errorf("after a run that went well the record is %s", lifecycle(w, r.ID))
	}

	w, r = asked(t)
	w.Attention = nil
	w.look(t)
	w.wait(time.Minute)
	w.end("source_down")
	w.expect(t, Started, 1)
	w.run("source_down")
	w.expect(t, NoSatisfiedAction, 1)
	if lifecycle(w, r.ID) == evidence.AttentionInProgress {
		t.Errorf("after the confirming run the record is %s", lifecycle(w, r.ID))
	}

	w, r = asked(t) // refused, and the run notices
	w.Attention = nil
	w.look(t)
	w.wait(time.Minute)
	w.end("session_required")
	w.LastRun.Unanswered = true
	w.expect(t, NoSatisfiedAction, 0)
	if lifecycle(w, r.ID) != evidence.AttentionCancelled {
		t.Errorf("refused, and the record is %s", lifecycle(w, r.ID))
	}
	w.wait(time.Hour)
	w.expect(t, NoSatisfiedAction, 0)

	w, r = asked(t)
	w.wait(time.Minute)
	w.end("source_down")
	w.expect(t, NoSatisfiedAction, 0)
	if lifecycle(w, r.ID) != evidence.AttentionCancelled {
		t.Errorf("with its run the question ended as %s", lifecycle(w, r.ID))
	}

	w, r = asked(t)
	w.wait(2 * time.Hour)
	w.end("source_down")
	w.look(t)
	if lifecycle(w, r.ID) != evidence.AttentionExpired {
		t.Errorf("nobody answered, and the record is %s", lifecycle(w, r.ID))
	}

	w, r = asked(t)
	w.Attention = nil
	w.look(t)
	w.ask("q2")
	w.look(t)
	if second := w.open()[1]; second.Occasion != "run_2/q2" || second.Notice != attention.NoticePending ||
		lifecycle(w, r.ID) != evidence.AttentionInProgress {
		t.Errorf("the second question is %+v", second)
	}
}

// A device with stalled uploads has a record of its own and never a run.
func TestStalledUploads(t *testing.T) {
	w := newWorld()
	w.Connection.SourceKind = evidence.SourceLocalDevice
	source := evidence.DeviceSource{ID: "dsrc_1", DeviceStatus: evidence.StatusActive, Status: evidence.StatusActive}
	beat := func(dead int64) {
		source.Heartbeat = &evidence.Heartbeat{At: w.now, Status: evidence.HeartbeatHealthy, Pending: ptr(int64(0)),
			Outbox: &evidence.OutboxCounts{DeadLetter: dead, Total: dead}}
		w.Device = &evidence.Device{Sources: []evidence.DeviceSource{source}, LastIngestAt: ptr(w.now)}
	}
	beat(3)
	w.look(t)
	r := w.only(t, "add_info")
	if r.Contract != string(verdict.AttentionResolved) || r.Occasion != "" {
		t.Fatalf("the record is %+v", r)
	}
	w.wait(time.Minute)
	beat(0)
	w.expect(t, NoSatisfiedAction, 0)
	if got := w.records.records[r.ID]; got.Lifecycle != evidence.AttentionResolved {
		t.Errorf("the record is %+v", got)
	}
}
