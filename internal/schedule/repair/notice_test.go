package repair

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
)

// While the runtime is the fault, no notification is pending. What is still open afterwards is sent.
func TestRuntimeFaultPushesNothing(t *testing.T) {
	t.Attr("spec", "CH-28.1")
	var page []evidence.Evidence
	w := newWorld()
	for _, id := range []string{"cin_1", "cin_2", "cin_3"} {
		other := newWorld()
		other.Connection.ID = id
		other.run("auth_failure")
		page = append(page, other.Evidence)
	}
	pending := func() (n int) {
		if _, err := w.watcher.Check(t.Context(), page, w.now); err != nil {
			t.Fatal(err)
		}
		for _, r := range w.records.records {
			if r.Notice == attention.NoticePending {
				n++
			} else if r.Notice != attention.NoticeSuppressed || r.NoticeWhy != "calm" {
				t.Errorf("the push is %s: %s", r.Notice, r.NoticeWhy)
			}
		}
		return n
	}
	w.wait(time.Minute)
	for i, ok := range []bool{false, true, false, true} {
		w.runtimeOK = ok
		w.wait(time.Minute)
		if n := pending(); (n == 3) != ok || !ok && n != 0 {
			t.Errorf("step %d, runtime well is %v: %d pushes wait", i, ok, n)
		}
	}
	if len(w.records.records) != 3 {
		t.Errorf("%d records for three connections", len(w.records.records))
	}
}

// What the system fixes without the owner gets no record.
func TestSelfHandledMakesNoRecord(t *testing.T) {
	t.Attr("spec", "CH-29.1")
	w := newWorld()
	w.Gaps.Groups = []evidence.GapGroup{{Stream: "trees", Reason: "rate_limited", Count: 40, MaxAttempts: 1,
		NotBefore: ptr(w.now.Add(time.Hour))}}
	w.look(t)
	if c := w.judge(); len(w.records.records) != 0 || len(c.Verdict.Detail.Conditions) == 0 ||
		c.Verdict.Detail.Backlog == nil {
		t.Errorf("a drain that goes on by itself made %+v", w.records.records)
	}
}

// What only the owner can fix makes one record that is pushed.
func TestOwnerIsCalledForWhatOnlyTheyCanDo(t *testing.T) {
	t.Attr("spec", "CH-29.2")
	w := newWorld()
	w.Refresh = &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshManual,
		InteractionPosture: manifest.PostureManualActionLikely, MaximumStalenessSeconds: 86400}
	w.rejectCredential()
	w.look(t)
	c := w.judge()
	if r := w.only(t, "reauth"); r.Notice != attention.NoticePending || !c.Verdict.Push() {
		t.Errorf("the record is %+v", r)
	}
}

// Only the first action is pushed, and a record that becomes the first later is
// pushed then.
func TestSecondActionIsNotPushed(t *testing.T) {
	w := newWorld()
	w.start()
	w.ask("q1")
	w.look(t)
	first := w.only(t, "add_info")
	if first.Notice != attention.NoticePending || first.Occasion != "run_2/q1" || first.ExpiresAt == nil ||
		first.Reason != "otp_required" {
		t.Errorf("the record of the question is %+v", first)
	}
	w.Refresh.RecommendedMode = manifest.RefreshManual
	w.end("auth_failure")
	w.wait(48 * time.Hour)
	w.look(t)
	for _, r := range w.open() {
		want := map[string]attention.Notice{"reauth": attention.NoticePending,
			"refresh_now": attention.NoticeSuppressed}[r.Kind]
		if r.Notice != want || want == attention.NoticeSuppressed && r.NoticeWhy != whyNotPrimary {
			t.Errorf("the push of %s is %s: %s", r.Kind, r.Notice, r.NoticeWhy)
		}
	}
	if len(w.open()) != 2 {
		t.Errorf("open: %+v", w.open())
	}
}

// An action that comes back within minutes is not pushed again, unless it stays.
func TestFlappingIsNotPushed(t *testing.T) {
	w, first := refused(t)
	w.wait(time.Minute)
	w.run("")
	w.look(t)
	if r := w.records.records[first.ID]; r.Lifecycle != evidence.AttentionResolved ||
		r.Notice != attention.NoticeSuppressed || r.NoticeWhy != whySettled {
		t.Fatalf("a success did not resolve %+v", r)
	}
	w.run("auth_failure")
	w.look(t)
	second := w.only(t, "reauth")
	if second.ID == first.ID || second.Notice != attention.NoticeSuppressed || second.NoticeWhy != whyFlapping {
		t.Fatalf("the action that came back is %+v", second)
	}
	w.wait(flapCooldown - time.Second)
	w.look(t)
	if r := w.only(t, "reauth"); r.Notice != attention.NoticeSuppressed {
		t.Errorf("a second too early the push is %s", r.Notice)
	}
	w.wait(time.Second)
	w.look(t)
	if r := w.only(t, "reauth"); r.Notice != attention.NoticePending {
		t.Errorf("the action stays, and its push is %s: %s", r.Notice, r.NoticeWhy)
	}
	w.run("")
	w.look(t)
	w.wait(flapCooldown)
	w.run("auth_failure")
	w.look(t)
	if r := w.only(t, "reauth"); r.Notice != attention.NoticePending {
		t.Errorf("after the cool-down the push is %s: %s", r.Notice, r.NoticeWhy)
	}
}

// A look that finds nothing new saves nothing.
func TestUnchangedIsNotSaved(t *testing.T) {
	w, _ := refused(t)
	saves := w.records.saves
	for range 20 {
		w.wait(15 * time.Minute)
		w.look(t)
	}
	if w.records.saves != saves {
		t.Errorf("%d saves without a change", w.records.saves-saves)
	}
}
