package cadence

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Nothing is due while a wait for the provider is in force, and the attempt that
// is promised comes after it.
func TestNothingIsDueDuringAWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, now := anyEvidence(t), moment(t, "now")
		w := e.ActiveWait(now)
		if w == nil {
			return
		}
		if d := Decide(e, now); d.Due || d.At != nil && d.At.Before(w.Until) {
			t.Fatalf("the provider waits until %v: %+v", w.Until, d)
		}
	})
}

// A wait that is over by the scheduled time delays nothing and is not reported as a delay.
func TestWaitWithinTheInterval(t *testing.T) {
	e := ready()
	e.LastRun.StartedAt, e.LastRun.EndedAt = *at(-30 * time.Minute), *at(-20 * time.Minute)
	e.Waits = senderWaits(*at(30 * time.Minute))
	if d, w := Decide(e, noon), ReadTiming(e, noon).Wait; d.Why != NotYet || !d.At.Equal(*at(30 * time.Minute)) ||
		w != nil {
		t.Errorf("over by the turn: %+v, %+v", d, w)
	}
	e.Waits = senderWaits(at(30 * time.Minute).Add(1))
	if d, w := Decide(e, noon), ReadTiming(e, noon).Wait; d.Why != ProviderWait || !d.At.Equal(e.Waits[1].Until) ||
		w == nil || !w.Until.Equal(*d.At) {
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
		"told":               {func(e *evidence.Evidence) { e.Waits = senderWaits(hour) }, true},
		"without a schedule": {func(e *evidence.Evidence) { e.Schedule, e.Waits = nil, senderWaits(hour) }, true},
		"started by hand": {func(e *evidence.Evidence) {
			e.Refresh.RecommendedMode, e.Waits = manifest.RefreshManual,
				senderWaits(hour)
		}, true},
		"while it runs": {func(e *evidence.Evidence) {
			e.Active, e.Waits = &evidence.ActiveRun{ID: "run_2"},
				senderWaits(hour)
		}, false},
		"over": {func(e *evidence.Evidence) { e.Waits = senderWaits(noon)[1:] }, false},
	} {
		e := ready()
		c.edit(e)
		if got := ReadTiming(e, noon).Wait; (got != nil) != c.holds || got != nil && !got.Until.Equal(hour) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The source's rest follows only from its refusals, and holds only a run that the schedule would start.
func TestSourceRest(t *testing.T) {
	end := *at(3 * time.Hour)
	for name, c := range map[string]struct {
		edit  func(*evidence.Evidence)
		holds bool
	}{
		"after a good run":    {func(*evidence.Evidence) {}, true},
		"after a failed run":  {failedLast, true},
		"set up later":        {func(e *evidence.Evidence) { e.Schedule.UpdatedAt = noon }, true},
		"an older record":     {func(e *evidence.Evidence) { e.Backoff = oldRecord() }, true},
		"without a schedule":  {func(e *evidence.Evidence) { e.Schedule = nil }, false},
		"only an old record":  {func(e *evidence.Evidence) { e.Backoff, e.Gaps = oldRecord(), &evidence.Gaps{} }, false},
		"the schedule is off": {func(e *evidence.Evidence) { e.Schedule.Enabled = false }, false},
		"paused":              {func(e *evidence.Evidence) { e.Connection.Status = evidence.StatusPaused }, false},
		"started by hand":     {func(e *evidence.Evidence) { e.Refresh.RecommendedMode = manifest.RefreshManual }, false},
		"while it runs":       {func(e *evidence.Evidence) { e.Active = &evidence.ActiveRun{ID: "run_2"} }, false},
	} {
		e := pressed(protocol.ReasonRateLimited, 1, &end)
		c.edit(e)
		got := ReadTiming(e, noon).Cooldown
		if (got != nil) != c.holds || got != nil && (!got.Until.Equal(end) || !got.Since.Equal(noon)) {
			t.Errorf("%s: %+v", name, got)
		}
		if d := Decide(e, noon); c.holds && (d.Why != SourcePressure || !d.At.Equal(end)) || !c.holds &&
			d.Why == SourcePressure {
			t.Errorf("%s: decided %+v", name, d)
		}
	}
}

// oldRecord is the source's rest as earlier versions stored it.
func oldRecord() *evidence.Backoff {
	return &evidence.Backoff{Class: classPressure, ObservedAt: noon, NextAttemptAt: at(5 * time.Hour)}
}

func failedLast(e *evidence.Evidence) {
	e.LastRun.Status, e.LastRun.Failure, e.LastSuccessAt = evidence.RunFailed, &evidence.Failure{Reason: "network"},
		at(-time.Hour)
}
