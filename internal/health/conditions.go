package health

import (
	"time"

	"pdpp/internal/evidence"
)

// Conditions gives one condition of every type.
func Conditions(e *evidence.Evidence, now time.Time) []Condition {
	r := read(e, now)
	return r.conditions()
}

func (r *reading) conditions() []Condition {
	return []Condition{
		r.projectionReliable(), r.scheduleEligible(), r.retryPolicyClear(), r.attentionClear(), r.collectionSucceeded(),
		r.credentialsValid(), r.credentialContinuity(), r.runtimeAvailable(), r.remoteSurface(),
		r.localExporter(), r.backlogClear(), r.sourceCoverage(), r.fresh(),
	}
}

// at makes a condition of a row of the table.
func (c *Condition) at(observed *time.Time) Condition {
	made := *c
	made.ObservedAt = observed
	return made
}

// because replaces the row's reason by one that the evidence gives, if that is safe to show.
func (c Condition) because(reason string) Condition {
	code, redacted := safeReason(reason, c.Reason)
	if redacted {
		c.Sensitivity = SensitivityRedacted
	}
	if code != c.Reason {
		c.ID, c.Reason = string(c.Type)+":"+code, code
		if c.Status == False {
			c.ReasonCode = Text(code)
		}
	}
	return c
}

// until sets when the evidence stops counting.
func (c Condition) until(t *time.Time) Condition {
	c.ExpiresAt = t
	return c
}

func (r *reading) projectionReliable() Condition {
	if len(r.unreadable()) > 0 {
		return projectionUnreliable.at(&r.now)
	}
	return projectionCurrent.at(&r.now)
}

func (r *reading) scheduleEligible() Condition {
	var set *time.Time
	if r.Schedule != nil {
		set = &r.Schedule.UpdatedAt
	}
	switch {
	case r.paused():
		return schedulePaused.at(set)
	case r.Schedule == nil:
		return scheduleNotConfigured.at(nil)
	default:
		return scheduleEnabled.at(set)
	}
}

// givesUpAfter is how many failures of one class in a row end the scheduler's attempts.
const givesUpAfter = 7

func (r *reading) retryPolicyClear() Condition {
	b := r.Backoff
	switch {
	case r.manualOnly:
		return retryNotApplicable.at(nil)
	case b == nil:
		return noActiveBackoff.at(nil)
	case r.succeededSince(b.ObservedAt), expired(b.NextAttemptAt, r.now):
		return backoffExpired.at(&b.ObservedAt).until(b.NextAttemptAt)
	case b.Failures >= givesUpAfter:
		return backoffGivenUp.at(&b.ObservedAt).because(suffix(b.Class)).until(b.NextAttemptAt)
	default:
		return backoffActive.at(&b.ObservedAt).because(suffix(b.Class)).until(b.NextAttemptAt)
	}
}

func (r *reading) attentionClear() Condition {
	switch q := r.question; {
	case q != nil:
		return attentionRequired.at(&q.OpenedAt).because(q.Reason).until(q.ExpiresAt)
	case r.closed:
		return attentionExpired.at(nil)
	default:
		return noOpenAttention.at(nil)
	}
}

func (r *reading) collectionSucceeded() Condition {
	switch {
	case r.LastRun == nil && r.deviceVerdict():
		return collectionByDevice.at(r.capturedAt)
	case r.LastRun == nil:
		return collectionNotObserved.at(nil)
	case r.LastRun.Status == evidence.RunSucceeded:
		return collectionSucceeded.at(&r.LastRun.EndedAt)
	}
	c := collectionFailed.at(&r.LastRun.EndedAt)
	if f := r.LastRun.Failure; f != nil {
		c = c.because(failureReason(f))
	}
	return c
}

// failureReason is the most telling name of a failure: the connector's own
// where it gave one.
func failureReason(f *evidence.Failure) string {
	if f.Code != "" {
		return f.Code
	}
	return f.Reason
}
