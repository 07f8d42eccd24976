package cadence

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Delays after failures. Consecutive failures count together while they have one class.
const (
	// firstDelayedFailure is the consecutive failure after which a delay begins. Two in a row are common.
	firstDelayedFailure = 3
	// GiveUpFailures is the consecutive failure after which scheduled attempts end.
	GiveUpFailures = 7
	// delayDoublings limits how often the delay doubles.
	delayDoublings = 8
	// longestDelay ensures that the end of an outage is noticed within a day.
	longestDelay = 24 * time.Hour
)

// localStopReasons are the reasons of runs that were stopped on this server. They carry no information about the
// source.
var localStopReasons = []string{"owner_cancelled", "owner_cancel_forced", "runtime_shutdown", "grant_expired",
	"grant_revoked"}

// AfterRun returns the backoff that follows a finished run; nil clears it. A backoff without NextAttemptAt only
// counts failures, until the count reaches GiveUpFailures.
func AfterRun(previous *evidence.Backoff, run evidence.Run, interval time.Duration, now time.Time) *evidence.Backoff {
	if run.Status == evidence.RunSucceeded {
		return nil
	}
	if stoppedLocally(&run) {
		return previous
	}
	next := &evidence.Backoff{Class: failureClass(&run), Failures: 1, ObservedAt: now}
	if previous != nil && previous.Class == next.Class {
		next.Failures = previous.Failures + 1
	}
	if run.Failure != nil && run.Failure.CredentialFault() != "" {
		// No delay fixes a refused credential, and giving up would outlast the fix. The rule for refused credentials blocks
		// the connection instead.
		next.Failures = min(next.Failures, GiveUpFailures-1)
		return next
	}
	if delay := delayAfter(next.Failures, interval); delay > 0 {
		at := now.Add(delay)
		next.NextAttemptAt = &at
	}
	return next
}

// delayAfter returns the delay after consecutive failures. Zero means no delay: the failures are few, or attempts
// have ended.
func delayAfter(failures int, interval time.Duration) time.Duration {
	if failures < firstDelayedFailure || failures >= GiveUpFailures {
		return 0
	}
	return doubledUpTo(interval, int64(min(failures-firstDelayedFailure, delayDoublings)), longestDelay)
}

// CurrentBackoff returns the backoff that is in force, or nil. A success ends an older backoff.
func CurrentBackoff(e *evidence.Evidence) *evidence.Backoff {
	b := e.Backoff
	if b == nil || b.Class == classPressure || e.LastSuccessAt != nil && b.ObservedAt.Before(*e.LastSuccessAt) {
		return nil
	}
	return b
}

func stoppedLocally(run *evidence.Run) bool {
	if run.Failure == nil {
		return run.Status == evidence.RunCancelled
	}
	return slices.Contains(localStopReasons, run.Failure.Reason)
}

// failureClass returns the most exact class of a failure: the connector's own code if there is one.
func failureClass(run *evidence.Run) string {
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
