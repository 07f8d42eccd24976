package cadence

import (
	"time"

	"pdpp/internal/judge/evidence"
)

// ClassPressure is the class of a wait that a good run left because the source
// refused part of it. It counts no failures.
const ClassPressure = "source_pressure"

// DelayingWait is the wait for the provider that delays the connection's next run;
// nil when none does. While a run is under way nothing is delayed. Where no schedule
// starts runs, a wait delays the one that the owner may ask for.
func DelayingWait(e *evidence.Evidence, now time.Time) *evidence.Wait {
	s := read(e.AsOf(now), now)
	if s.Active != nil || s.wait == nil || !s.wait.After(s.turn) {
		return nil
	}
	return e.WaitInForce(now)
}

// AfterPressure is the wait to record after a run that succeeded and that the
// source refused part of; nil when the source need not rest.
func AfterPressure(e *evidence.Evidence, now time.Time) *evidence.Backoff {
	if !scheduled(e) {
		return nil
	}
	end := cooldownEnd(e, now)
	if end == nil {
		return nil
	}
	return &evidence.Backoff{Class: ClassPressure, ObservedAt: now, NextAttemptAt: end}
}
