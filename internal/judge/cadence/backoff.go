package cadence

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// The wait after failures. Failures count together while they are of one class.
const (
	// delaysFrom is the failure with which the wait begins: two in a row are
	// common, three are a state.
	delaysFrom = 3
	// GivesUpAfter is the failure with which the attempts end: more of the same
	// will not fix it.
	GivesUpAfter = 7
	// delayDoublings bounds the growth of the wait, wherever the attempts end.
	delayDoublings = 8
	// longestDelay makes a source that is back be noticed within a day.
	longestDelay = 24 * time.Hour
)

// stoppedHere are the reasons of a run that ended because somebody here stopped it.
// They say nothing about the source.
var stoppedHere = []string{"owner_cancelled", "owner_cancel_forced", "runtime_shutdown", "grant_expired", "grant_revoked"}

// AfterRun gives the wait that follows a run that ended: nil clears it. A wait
// without NextAttemptAt is a count, until it reaches GivesUpAfter.
func AfterRun(previous *evidence.Backoff, run evidence.Run, interval time.Duration, now time.Time) *evidence.Backoff {
	if run.Status == evidence.RunSucceeded {
		return nil
	}
	if stopped(&run) {
		return previous
	}
	next := &evidence.Backoff{Class: class(&run), Failures: 1, ObservedAt: now}
	if previous != nil && previous.Class == next.Class {
		next.Failures = previous.Failures + 1
	}
	if run.Failure != nil && run.Failure.CredentialFault() != "" {
		// No wait fixes it, and giving up would outlast the fix: the rule of the
		// refused credential holds the connection.
		next.Failures = min(next.Failures, GivesUpAfter-1)
		return next
	}
	if delay := delayAfter(next.Failures, interval); delay > 0 {
		at := now.Add(delay)
		next.NextAttemptAt = &at
	}
	return next
}

// delayAfter is how long to wait after so many failures in a row; zero is no
// wait, because the failures are few or the attempts have ended.
func delayAfter(failures int, interval time.Duration) time.Duration {
	if failures < delaysFrom || failures >= GivesUpAfter {
		return 0
	}
	return doubled(interval, int64(min(failures-delaysFrom, delayDoublings)), longestDelay)
}

// Standing is the wait that still counts: one that is older than a success does
// not. It is nil when none does.
func Standing(e *evidence.Evidence) *evidence.Backoff {
	b := e.Backoff
	if b == nil || b.Class == classPressure || e.LastSuccessAt != nil && b.ObservedAt.Before(*e.LastSuccessAt) {
		return nil
	}
	return b
}

func stopped(run *evidence.Run) bool {
	if run.Failure == nil {
		return run.Status == evidence.RunCancelled
	}
	return slices.Contains(stoppedHere, run.Failure.Reason)
}

// class names the kind of a failure: the connector's own code is the most exact.
func class(run *evidence.Run) string {
	f := run.Failure
	switch {
	case run.Status == evidence.RunAbandoned:
		return "failure:lease_expired"
	case f != nil && f.Code != "":
		return "connector:" + f.Code
	case f != nil && f.Reason != "":
		return "failure:" + f.Reason
	default:
		return "failure:unknown"
	}
}
