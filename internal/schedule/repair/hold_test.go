package repair

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// What holds a confirming run back, and what does not.
func TestHolds(t *testing.T) {
	cases := map[string]struct {
		given  func(*world)
		status HealStatus
		code   Hold
	}{
		"nothing":             {func(*world) {}, Started, ""},
		"a run under way":     {(*world).start, ActiveRunExists, ""},
		"a paused connection": {func(w *world) { w.Connection.Status = evidence.StatusPaused }, Blocked, HoldInactive},
		"pressure": {func(w *world) {
			w.Gaps.Groups = []evidence.GapGroup{{Stream: "trees", Reason: "rate_limited", Count: 4, MaxAttempts: 1}}
		}, Blocked, HoldPressure},
		"pressure with something to recover": {func(w *world) {
			w.Gaps.Groups = []evidence.GapGroup{{Stream: "trees", Reason: "rate_limited", Count: 4, MaxAttempts: 5},
				{Stream: "trees", Reason: "wasps", Count: 1}}
			w.Schedule = &evidence.Schedule{Enabled: true, IntervalSeconds: 60}
		}, Blocked, HoldPressure},
		"a wait for the provider": {func(w *world) {
			w.Waits = []evidence.SenderWait{{Sender: "api",
				Until: w.now.Add(time.Second)}}
		}, Blocked, HoldWait},
		"a wait for the provider that is over": {
			func(w *world) { w.Waits = []evidence.SenderWait{{Sender: "api", Until: w.now}} },
			Started,
			"",
		},
		"a wait of the failure that was fixed": {func(w *world) {
			w.Backoff = &evidence.Backoff{Class: "connector:auth_failure", Failures: 3, ObservedAt: w.now,
				NextAttemptAt: ptr(w.now.Add(time.Hour))}
		}, Started, ""},
		"a wait of another failure": {func(w *world) {
			w.LastRun.Failure.Code = "source_down"
			w.Backoff = &evidence.Backoff{Class: "connector:source_down", Failures: 3, ObservedAt: w.now,
				NextAttemptAt: ptr(w.now.Add(time.Hour))}
		}, Blocked, HoldBackoff},
		"a device that feeds the connection": {func(w *world) { w.Connection.SourceKind = evidence.SourceLocalDevice },
			NoSatisfiedAction, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, before := refused(t)
			w.wait(time.Minute)
			w.storeCredential()
			c.given(w)
			h := w.look(t)
			if h.Status != c.status || h.ErrorCode != c.code || (len(w.records.asked) == 1) != (c.status == Started) {
				t.Errorf("the look came to %s (%s)", h.Status, h.ErrorCode)
			}
			if c.status == Blocked || c.status == ActiveRunExists {
				if c.code == HoldWait && (h.NotBefore == nil || !h.NotBefore.Equal(w.Waits[0].Until)) {
					t.Errorf("it is looked at again at %v", h.NotBefore)
				}
				if r := w.records.records[before.ID]; r.Lifecycle != evidence.AttentionOpen || len(h.Satisfied) != 1 {
					t.Errorf("held back, the record is %+v", r)
				}
			}
		})
	}
}

// A run that was active when the owner fixed the cause proves nothing; one that started afterwards is the
// confirmation, whatever started it.
func TestRunThatWasUnderWay(t *testing.T) {
	w, before := refused(t)
	w.start()
	w.wait(time.Minute)
	w.storeCredential()
	w.expect(t, ActiveRunExists, 0)
	w.wait(time.Minute)
	w.end("source_down")
	w.expect(t, Started, 1)

	w, before = refused(t)
	w.wait(time.Minute)
	w.storeCredential()
	w.wait(time.Second)
	w.start()
	w.expect(t, ActiveRunExists, 0)
	w.wait(time.Minute)
	w.end("")
	w.expect(t, NoSatisfiedAction, 0)
	if r := w.records.records[before.ID]; r.Lifecycle != evidence.AttentionResolved {
		t.Errorf("the record is %+v", r)
	}
}

// The first corrections are tried at once. Then the wait between confirmations doubles and ends at six hours.
func TestDelayDoubles(t *testing.T) {
	want := []time.Duration{0, 0, 0, time.Minute, 2 * time.Minute, 4 * time.Minute}
	for n, delay := range want {
		if got := delayAfter(n); got != delay {
			t.Errorf("after %d: %s, want %s", n, got, delay)
		}
	}
	if delayAfter(11) != 256*time.Minute || delayAfter(12) != longestConfirmDelay ||
		delayAfter(1<<40) != longestConfirmDelay {
		t.Errorf("after many: %s, %s", delayAfter(11), delayAfter(12))
	}
	w, _ := refused(t)
	w.wait(time.Minute)
	for n := 1; n <= 5; n++ {
		w.storeCredential()
		w.expect(t, Started, n)
		w.start()
		w.end("auth_failure")
		w.look(t)
		if n < freeConfirmations {
			w.wait(time.Second)
			continue
		}
		w.wait(delayAfter(n) - time.Second)
		w.storeCredential()
		if h := w.expect(t, Blocked, n); h.ErrorCode != HoldTooSoon || !h.NotBefore.Equal(w.now.Add(time.Second)) {
			t.Fatalf("a second too early: %+v", h)
		}
		w.wait(time.Second)
	}
}

// What is fixed while a confirming run is on its way waits for that run, and is
// confirmed by it.
func TestTwoFixesShareOneRun(t *testing.T) {
	w, first := refused(t)
	w.wait(time.Minute)
	w.storeCredential()
	w.expect(t, Started, 1)
	w.wait(time.Hour)
	w.setSchedule(false)
	w.look(t)
	w.wait(time.Hour)
	w.setSchedule(true)
	if h := w.expect(t, ActiveRunExists, 1); len(h.Satisfied) != 1 || h.Satisfied[0].Kind != "reattach_schedule" {
		t.Errorf("heal = %+v", h)
	}
	w.wait(time.Minute)
	w.run("")
	w.expect(t, NoSatisfiedAction, 1)
	if r := w.records.records[first.ID]; r.Lifecycle != evidence.AttentionResolved || len(w.open()) != 0 {
		t.Errorf("the records are %+v and %+v", r, w.open())
	}
}
