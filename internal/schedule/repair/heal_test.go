package repair

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/manifest"
)

// refused returns a world in which the newest run failed because of its credential, and the record of that.
func refused(t *testing.T) (*world, attention.AttentionRecord) {
	t.Helper()
	w := newWorld()
	w.run("auth_failure")
	w.expect(t, NoSatisfiedAction, 0)
	r := w.only(t, "reauth")
	if r.Notice != attention.NoticePending || r.Contract != string(verdict.CredentialPresent) || r.Reason == "" ||
		len(r.Affects) != 2 {
		t.Fatalf("the record is %+v", r)
	}
	return w, r
}

// A new credential is all that the owner does: one run confirms it, on the same
// connection, with its schedule and credential as they are.
func TestFixedCredentialIsConfirmedOnce(t *testing.T) {
	t.Attr("spec", "CH-26")
	t.Attr("spec", "CH-26.1")
	w, before := refused(t)
	w.wait(time.Minute)
	w.storeCredential()
	schedule, credential := *w.Schedule, *w.Credential
	h := w.expect(t, Started, 1)
	if len(h.Satisfied) != 1 || h.Satisfied[0].AttentionID != before.ID || h.Confirming == nil ||
		h.Confirming.ConnectionID != w.Connection.ID {
		t.Errorf("heal = %+v", h)
	}
	for range 3 { // no second request
		w.only(t, "reauth")
		w.wait(time.Minute)
		w.expect(t, ActiveRunExists, 1)
	}
	w.start()
	w.wait(time.Minute)
	w.expect(t, ActiveRunExists, 1)
	if got := w.only(t, "reauth"); got.ID != before.ID || got.Lifecycle != evidence.AttentionInProgress {
		t.Errorf("while the run goes on the record is %+v", got)
	}
	w.end("")
	if h := w.expect(t, NoSatisfiedAction, 1); h.TerminalStatus != "succeeded" {
		t.Errorf("heal = %+v", h)
	}
	if r := w.records.records[before.ID]; r.Lifecycle != evidence.AttentionResolved || len(w.open()) != 0 {
		t.Errorf("after the run the record is %+v", r)
	}
	if c := w.judge(); c.Verdict.Pill.Tone != verdict.Green || c.ID != "cin_1" || *w.Schedule != schedule ||
		*w.Credential != credential {
		t.Errorf("after the repair: %+v, %+v", c.Verdict.Pill, w.Evidence.Connection)
	}
}

// A credential is dated before other processes can see it, perhaps by another clock. A credential that a check did
// not see is confirmed as well, and only once.
func TestCredentialThatIsSeenLate(t *testing.T) {
	w := newWorld()
	w.rejectCredential()
	w.wait(time.Second)
	dated := w.now
	w.wait(time.Second)
	w.look(t)
	r := w.only(t, "reauth")
	w.Credential = &evidence.Credential{Status: evidence.CredentialActive, CapturedAt: dated}
	w.wait(time.Second)
	w.expect(t, Started, 1)
	w.run("")
	w.expect(t, NoSatisfiedAction, 1)
	if got := w.records.records[r.ID]; got.Lifecycle != evidence.AttentionResolved {
		t.Errorf("the record is %+v", got)
	}
}

// A confirmation that fails the same way reopens the same record with the reason; the owner is not notified again.
func TestConfirmationThatFailsTheSameWay(t *testing.T) {
	t.Attr("spec", "CH-26")
	t.Attr("spec", "CH-26.2")
	w, before := refused(t)
	sent := before
	sent.Notice = attention.NoticeSent
	if err := w.records.Save(t.Context(), []attention.AttentionRecord{sent}, ""); err != nil {
		t.Fatal(err)
	}
	w.wait(time.Minute)
	w.storeCredential()
	w.expect(t, Started, 1)
	w.run("auth_failure")
	w.expect(t, NoSatisfiedAction, 1)
	r := w.only(t, "reauth")
	if r.ID != before.ID || r.Lifecycle != evidence.AttentionOpen || r.Confirmations != 1 || r.Reason != "auth_failure" ||
		r.Notice != attention.NoticeSent {
		t.Errorf("after the failed confirmation: %+v", r)
	}
	c := w.judge()
	if c.Verdict.Pill.Tone == verdict.Green || c.Verdict.RequiredActions[0].Kind != verdict.Reauth {
		t.Errorf("a false green: %+v", c.Verdict)
	}
	// Without anything new nothing more is tried, however long it takes.
	for range 50 {
		w.wait(15 * time.Minute)
		w.expect(t, NoSatisfiedAction, 1)
	}
	w.storeCredential()
	w.expect(t, Started, 2)
}

// Of two streams the run recovers one. Its part of the action ends; the other
// keeps the same record, and a stream that no run can recover its own action.
func TestPartialRecoveryKeepsTheRest(t *testing.T) {
	t.Attr("spec", "CH-26.3")
	gap := func(stream string) evidence.GapGroup {
		return evidence.GapGroup{Stream: stream, Reason: "wasps", Count: 3}
	}
	w := newWorld()
	w.Schedule = nil
	w.Refresh.RecommendedMode = manifest.RefreshManual
	w.Gaps.Groups = []evidence.GapGroup{gap("trees"), gap("apples")}
	w.look(t)
	before := w.only(t, "retry_gap")
	if len(before.Affects) != 2 {
		t.Fatalf("the record is %+v", before)
	}
	w.run("")
	w.Gaps.Groups = []evidence.GapGroup{gap("apples")}
	w.look(t)
	after := w.only(t, "retry_gap")
	if after.ID != before.ID || len(after.Affects) != 1 || after.Affects[0] != "apples" ||
		w.judge().Verdict.Pill.Tone == verdict.Green {
		t.Errorf("after part of it was recovered: %+v", after)
	}
	w.run("")
	w.Gaps.Groups = nil
	w.look(t)
	if r := w.records.records[before.ID]; r.Lifecycle != evidence.AttentionResolved || len(w.records.asked) != 0 {
		t.Errorf("a run satisfied it, and then: %+v, %d runs asked for", r, len(w.records.asked))
	}

	w, reauth := refused(t)
	w.wait(time.Minute)
	w.storeCredential()
	w.expect(t, Started, 1)
	w.run("")
	w.Streams[1].Fact.Skip = &evidence.Skip{Reason: "schema_changed"}
	w.look(t)
	c := w.judge()
	action := c.Verdict.RequiredActions[0]
	if w.records.records[reauth.ID].Lifecycle != evidence.AttentionResolved || c.Verdict.Pill.Tone != verdict.Red ||
		action.Kind != verdict.CodeFix || len(action.Affects) != 1 || action.Affects[0] != "apples" {
		t.Errorf("the stream that nothing recovers: %+v, %+v", c.Verdict.Pill, c.Verdict.RequiredActions)
	}
}

// A confirmation that fails over something else ends the one action and opens the other.
func TestConfirmationThatFailsOtherwise(t *testing.T) {
	w, before := refused(t)
	w.Schedule = nil
	w.wait(time.Minute)
	w.storeCredential()
	w.expect(t, Started, 1)
	w.run("source_down")
	w.look(t)
	if r := w.records.records[before.ID]; r.Lifecycle != evidence.AttentionSuperseded {
		t.Errorf("the old record is %+v", r)
	}
	if r := w.only(t, "retry_gap"); r.ID == before.ID {
		t.Error("another action took over the record")
	}
}

// A schedule that is switched on again is confirmed by one run; an owner who
// accepts the offer need not do even that.
func TestScheduleIsTakenUpAgain(t *testing.T) {
	t.Attr("spec", "CH-26")
	for _, accepts := range []bool{false, true} {
		w := newWorld()
		w.setSchedule(false)
		w.look(t)
		r := w.only(t, "reattach_schedule")
		if r.Notice != attention.NoticeSuppressed || r.NoticeWhy != "advisory" {
			t.Errorf("the push is %s: %s", r.Notice, r.NoticeWhy)
		}
		w.wait(time.Hour)
		if accepts {
			r.Move(evidence.AttentionAcknowledged, w.now)
			if err := w.records.Save(t.Context(), []attention.AttentionRecord{r}, ""); err != nil {
				t.Fatal(err)
			}
		} else {
			w.setSchedule(true)
		}
		w.expect(t, Started, 1)
		if !w.Schedule.Enabled || (w.records.enabled == 1) != accepts {
			t.Errorf("accepted %v: schedule %+v, switched on %d times", accepts, w.Schedule, w.records.enabled)
		}
		w.run("")
		w.expect(t, NoSatisfiedAction, 1)
		if len(w.open()) != 0 || w.judge().Verdict.Pill.Tone != verdict.Green {
			t.Errorf("accepted %v: open %+v", accepts, w.open())
		}
	}
}
