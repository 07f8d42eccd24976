package repair

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// codes are how runs end in the simulation; an empty one is a success.
var codes = []string{"", "", "auth_failure", "auth_failure", "source_down", "credentials_missing"}

// drawn changes one fact of the world, as an owner, a provider or a run would.
func (w *world) drawn(t *rapid.T) {
	switch rapid.IntRange(0, 11).Draw(t, "event") {
	case 0, 1:
		w.storeCredential()
	case 2:
		w.rejectCredential()
	case 3:
		w.setSchedule(!w.Schedule.Enabled)
	case 4, 5, 6:
		if w.Active == nil {
			w.start()
		} else {
			w.end(rapid.SampledFrom(codes).Draw(t, "code"))
		}
	case 7:
		if w.Active != nil {
			w.Attention = nil
			if rapid.Bool().Draw(t, "asks") {
				w.ask(rapid.SampledFrom([]string{"q1", "q2", "q3"}).Draw(t, "question") + w.now.Format("-150405.000"))
			}
		}
	case 8:
		w.Gaps = &evidence.Gaps{Recovered: ptr(int64(0)), Terminal: ptr(int64(0))}
		if rapid.Bool().Draw(t, "pressed") {
			w.Gaps.Groups = []evidence.GapGroup{{Stream: "trees", Reason: "rate_limited", Count: 2, MaxAttempts: 1}}
		}
	case 9:
		w.runtimeOK = !w.runtimeOK
	case 10:
		w.Connection.Status = rapid.SampledFrom([]string{evidence.StatusActive, evidence.StatusActive,
			evidence.StatusPaused}).Draw(t, "status")
	case 11: // the push is sent
		for id, r := range w.records.records {
			if r.Notice == attention.NoticePending {
				r.Notice, r.Revision = attention.NoticeSent, r.Revision+1
				w.records.records[id] = r
			}
		}
	}
}

// serve starts and ends the run that was asked for, as a scheduler would.
func (w *world) serve(t *rapid.T) {
	if w.records.waiting && w.Active == nil && rapid.IntRange(0, 3).Draw(t, "served") > 0 {
		w.start()
		w.wait(time.Second)
		w.end(rapid.SampledFrom(codes).Draw(t, "code"))
	}
}

// check looks and holds the result to what must always be true.
func (w *world) check(t *rapid.T) {
	sent := map[string]bool{}
	for id, r := range w.records.records {
		sent[id] = r.Notice == attention.NoticeSent
	}
	before := len(w.records.asked)
	h, err := w.watcher.One(t.Context(), &w.Evidence, w.now)
	if err != nil {
		t.Fatal(err) // the book refuses a second run, two open records of a key, and a closed one that changes
	}
	if w.Active != nil && len(w.records.asked) > before {
		t.Fatal("a run was asked for while one is under way")
	}
	open := map[string]attention.AttentionRecord{}
	for id, r := range w.records.records {
		if sent[id] && r.Notice != attention.NoticeSent {
			t.Fatalf("what was sent is %s", r.Notice)
		}
		if r.Notice == attention.NoticePending && (!w.runtimeOK || !r.Open()) {
			t.Fatalf("a push waits for %+v, runtime well: %v", r, w.runtimeOK)
		}
		if r.Open() {
			open[r.Key()] = r
		}
	}
	c := w.judge()
	for _, want := range ownerActions(&w.Evidence, &c) {
		r, recorded := open[want.key]
		runs := h.Confirming != nil || len(h.Satisfied) > 0
		if !recorded && !(runs && slices.Contains(runContracts, want.SatisfiedWhen.Kind)) {
			t.Fatalf("nothing records %s", want.Kind)
		}
		// A confirmation that is over and has fixed nothing leaves the action with the owner.
		over := r.ConfirmAskedAt != nil && w.LastRun != nil && !w.LastRun.StartedAt.Before(*r.ConfirmAskedAt)
		if recorded && over && r.Lifecycle == evidence.AttentionInProgress {
			t.Fatalf("the confirmation failed, and the record is %+v", r)
		}
		if over && c.Health.State == "healthy" && want.Kind == verdict.Reauth {
			t.Fatal("a false green")
		}
	}
}

// However the facts flap over days, confirming runs stay within their bound in
// every window, none is asked for before the one before has ended, and no action
// is without its record.
func TestFlappingIsBounded(t *testing.T) {
	t.Attr("spec", "CH-26")
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(20, 250).Draw(t, "steps") {
			w.wait(time.Duration(rapid.Int64Range(1, int64(20*time.Minute)).Draw(t, "wait")))
			w.drawn(t)
			w.check(t)
			w.serve(t)
			w.check(t)
		}
		asked := w.records.asked
		for i := MostConfirmations; i < len(asked); i++ {
			if first := asked[i-MostConfirmations]; asked[i].Sub(first) < confirmWindow {
				t.Fatalf("%d confirmations between %s and %s", MostConfirmations+1, first, asked[i])
			}
		}
	})
}

// Facts that flap as fast as they can reach the bound and do not pass it.
func TestStormIsBounded(t *testing.T) {
	for name, code := range map[string]string{"every confirmation fails": "auth_failure",
		"every confirmation succeeds": ""} {
		w := newWorld()
		for end := noon.Add(24 * time.Hour); w.now.Before(end); w.wait(time.Minute) {
			w.rejectCredential()
			w.look(t)
			w.wait(time.Second)
			w.storeCredential()
			w.look(t)
			if w.records.waiting {
				w.start()
				w.wait(time.Second)
				w.end(code)
				w.look(t)
			}
		}
		if n := len(w.records.asked); n < MostConfirmations || n > 4*MostConfirmations {
			t.Errorf("%s: %d confirming runs in a day of flapping, want %d to %d", name, n, MostConfirmations,
				4*MostConfirmations)
		}
		t.Logf("%s: %d confirming runs in a day of flapping every minute, %d records", name, len(w.records.asked),
			len(w.records.records))
	}
}

// A clock that is set back or forward costs at most another round of the bound
// for each time, and never a second run before the first has ended.
func TestClockSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		var forward time.Duration
		steps := 0
		for range rapid.IntRange(20, 150).Draw(t, "steps") {
			d := time.Duration(rapid.Int64Range(1, int64(10*time.Minute)).Draw(t, "wait"))
			if rapid.IntRange(0, 15).Draw(t, "odd clock") == 0 {
				d = time.Duration(rapid.Int64Range(-int64(8*time.Hour), int64(8*time.Hour)).Draw(t, "step"))
				steps++
			}
			forward += max(d, 0)
			w.wait(d)
			w.drawn(t)
			w.check(t)
			w.serve(t)
			w.check(t)
		}
		if most := MostConfirmations * (int(forward/confirmWindow) + 1 + steps); len(w.records.asked) > most {
			t.Fatalf("%d confirming runs, want at most %d", len(w.records.asked), most)
		}
	})
}
