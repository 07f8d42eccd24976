package cadence

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pdpp/internal/judge/evidence"
	"pdpp/manifest"
	"pdpp/protocol"
)

// Nothing is due while a wait for the provider is in force, and the attempt that
// is promised comes after it.
func TestNothingIsDueDuringAWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, now := anyEvidence(t), moment(t, "now")
		w := e.WaitInForce(now)
		if w == nil {
			return
		}
		if d := Decide(e, now); d.Due || d.At != nil && d.At.Before(w.Until) {
			t.Fatalf("the provider waits until %v: %+v", w.Until, d)
		}
	})
}

// A wait that is over by the turn delays nothing, and is not told as if it did.
func TestWaitWithinTheInterval(t *testing.T) {
	e := ready()
	e.LastRun.StartedAt, e.LastRun.EndedAt = *at(-30 * time.Minute), *at(-20 * time.Minute)
	e.Waits = told(*at(30 * time.Minute))
	if d, w := Decide(e, noon), DelayingWait(e, noon); d.Why != NotYet || !d.At.Equal(*at(30 * time.Minute)) || w != nil {
		t.Errorf("over by the turn: %+v, %+v", d, w)
	}
	e.Waits = told(at(30 * time.Minute).Add(1))
	if d, w := Decide(e, noon), DelayingWait(e, noon); d.Why != ProviderWait || !d.At.Equal(e.Waits[1].Until) || w == nil || !w.Until.Equal(*d.At) {
		t.Errorf("later than the turn: %+v, %+v", d, w)
	}
	if d := Decide(e, e.Waits[1].Until); !d.Due {
		t.Errorf("when it is over: %+v", d)
	}
}

func TestDelayingWait(t *testing.T) {
	hour := *at(time.Hour)
	for name, c := range map[string]struct {
		edit  func(*evidence.Evidence)
		holds bool
	}{
		"nothing":            {func(*evidence.Evidence) {}, false},
		"told":               {func(e *evidence.Evidence) { e.Waits = told(hour) }, true},
		"without a schedule": {func(e *evidence.Evidence) { e.Schedule, e.Waits = nil, told(hour) }, true},
		"started by hand":    {func(e *evidence.Evidence) { e.Refresh.RecommendedMode, e.Waits = manifest.RefreshManual, told(hour) }, true},
		"while it runs":      {func(e *evidence.Evidence) { e.Active, e.Waits = &evidence.ActiveRun{ID: "run_2"}, told(hour) }, false},
		"over":               {func(e *evidence.Evidence) { e.Waits = told(noon)[1:] }, false},
	} {
		e := ready()
		c.edit(e)
		if got := DelayingWait(e, noon); (got != nil) != c.holds || got != nil && !got.Until.Equal(hour) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The wait that a good run leaves is the source's rest, and counts no failures: in
// its turn what else is missing is retried, as without the record.
func TestRecordedRest(t *testing.T) {
	e := pressed(protocol.ReasonRateLimited, 1, at(3*time.Hour))
	b := AfterPressure(e, noon)
	if b == nil || b.Class != ClassPressure || b.Failures != 0 || !b.NextAttemptAt.Equal(*at(3 * time.Hour)) {
		t.Fatalf("recorded as %+v", b)
	}
	e.Backoff, e.Gaps = b, &evidence.Gaps{}
	if d := Decide(e, noon); d.Why != SourcePressure || !d.At.Equal(*at(3 * time.Hour)) {
		t.Errorf("by the record alone: %+v", d)
	}
	gaps(evidence.GapGroup{Stream: "photos", Reason: protocol.ReasonRetryExhausted, Count: 1})(e)
	if d := Decide(e, *at(14 * time.Minute)); !d.Due || !d.RecoveryOnly {
		t.Errorf("another gap, in its turn: %+v", d)
	}
	if d := Decide(e, *at(3 * time.Hour)); !d.Due || d.RecoveryOnly {
		t.Errorf("when it is over: %+v", d)
	}
	if next := AfterRun(Standing(e), failedRun(evidence.Failure{Reason: "network"}), time.Hour, noon); next.Failures != 1 {
		t.Errorf("a failure after it counts as %d", next.Failures)
	}
	e.Schedule = nil
	if b := AfterPressure(e, noon); b != nil {
		t.Errorf("without a schedule: %+v", b)
	}
}
