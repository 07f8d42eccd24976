package health

import (
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// conditions makes the conditions in the order of ConditionTypes.
func (r *reading) conditions() []Condition {
	found := [...]finding{
		r.projectionReliable(), r.scheduleEligible(), r.retryPolicyClear(), r.attentionClear(), r.collectionSucceeded(),
		r.credentialsValid(), r.credentialContinuity(), r.runtimeAvailable(), r.remoteSurface(),
		r.localExporter(), r.backlogClear(), r.sourceCoverage(), r.fresh(),
	}
	all := make([]Condition, len(found))
	for i := range found {
		found[i].write(&all[i], r.seen)
	}
	return all
}

// finding is a row of the table with what the evidence adds to it.
type finding struct {
	row       *Kind
	reason    string // replaces the row's; empty keeps it
	observed  *time.Time
	expires   *time.Time
	names     *strings.Replacer // fills the row's words in; nil where they have no places
	redacted  bool
	over      bool // the evidence no longer counts
	ofStreams []string
}

func (f *finding) write(c *Condition, seen *time.Time) {
	c.Kind, c.ObservedAt, c.ExpiresAt, c.Streams = f.row, f.observed, f.expires, f.ofStreams
	c.Current, c.Sensitivity = !f.over, SensitivityOwner
	if f.redacted {
		c.Sensitivity = SensitivityRedacted
	}
	if f.observed == nil && f.row.Status == False {
		c.ObservedAt = seen // what has no time of its own is seen when it is read
	}
	reason := f.reason != "" && f.reason != f.row.Reason
	if !reason && f.names == nil {
		return
	}
	own := *f.row
	c.Kind = &own
	if f.names != nil {
		fix := *own.Remediation
		fix.Label, own.Message, own.Remediation = f.names.Replace(fix.Label), f.names.Replace(own.Message), &fix
	}
	if !reason {
		return
	}
	own.ID, own.Reason = string(own.Type)+":"+f.reason, f.reason
	if own.Status == False {
		own.ReasonCode = Text(f.reason)
	}
}

// at finds that a row applies.
func (k *Kind) at(observed *time.Time) finding { return finding{row: k, observed: observed} }

// because replaces the row's reason by one that the evidence gives, if that is safe to show.
func (f finding) because(reason string) finding {
	f.reason, f.redacted = safeReason(reason, f.row.Reason)
	return f
}

// naming fills in what the connector lacks, if its name is safe to show.
func (f finding) naming(name, connector string) finding {
	if _, redacted := safeReason(strings.ToLower(name), ""); redacted || name == "" {
		name, f.redacted = "what it needs", redacted
	}
	f.names = strings.NewReplacer("NAME", name, "CONNECTOR", connector)
	return f
}

// until sets when the evidence stops counting.
func (f finding) until(t *time.Time) finding {
	f.expires = t
	return f
}

// past marks evidence that expired or was replaced.
func (f finding) past() finding {
	f.over = true
	return f
}

func (r *reading) projectionReliable() finding {
	if len(r.unreadable()) > 0 {
		return projectionUnreliable.at(r.seen)
	}
	return projectionCurrent.at(r.seen)
}

func (r *reading) scheduleEligible() finding {
	var set *time.Time
	if r.Schedule != nil {
		set = &r.Schedule.UpdatedAt
	}
	switch {
	case r.paused():
		return schedulePaused.at(set)
	case r.Schedule == nil:
		return scheduleNotConfigured.at(nil)
	case !r.followed():
		return scheduleNotFollowed.at(set)
	default:
		return scheduleEnabled.at(set)
	}
}

// givesUpAfter is how many failures of one class in a row end the scheduler's attempts.
const givesUpAfter = 7

// retryPolicyClear counts a delay until it is over or a later run succeeds.
// Failures without a delay are a count, until they are enough to give up. Of a delay
// after failures, the provider's wait and the source's rest the longest is shown. Where
// no schedule starts runs, only a wait for the provider delays anything.
func (r *reading) retryPolicyClear() finding {
	b := r.Backoff
	gaveUp := b != nil && b.Failures >= givesUpAfter
	delays := b != nil && (b.NextAttemptAt != nil || gaveUp)
	over := delays && (cadence.Standing(r.Evidence) == nil || expired(b.NextAttemptAt, r.now))
	held := delays && !over && r.followed()
	longer := func(t time.Time) bool { return held && b.NextAttemptAt.After(t) }
	switch {
	case held && gaveUp:
		return backoffGivenUp.at(&b.ObservedAt).because(suffix(b.Class)).until(b.NextAttemptAt)
	case r.rest != nil && !longer(r.rest.Until) && (r.wait == nil || r.rest.Until.After(r.wait.Until)):
		return sourcePressed.at(&r.rest.Since).until(&r.rest.Until)
	case r.wait != nil && !longer(r.wait.Until):
		return sourcePressed.at(&r.wait.At).until(&r.wait.Until)
	case held:
		return backoffActive.at(&b.ObservedAt).because(suffix(b.Class)).until(b.NextAttemptAt)
	case over:
		return backoffExpired.at(&b.ObservedAt).until(b.NextAttemptAt).past()
	case r.manualOnly:
		return retryNotApplicable.at(nil)
	case b != nil:
		return noActiveBackoff.at(&b.ObservedAt)
	default:
		return noActiveBackoff.at(nil)
	}
}

func (r *reading) attentionClear() finding {
	switch q := r.question; {
	case q != nil:
		return attentionRequired.at(&q.OpenedAt).because(q.Reason).until(q.ExpiresAt)
	case r.closed != nil:
		return attentionExpired.at(&r.closed.OpenedAt).until(r.closed.ExpiresAt).past()
	default:
		return noOpenAttention.at(nil)
	}
}

func (r *reading) collectionSucceeded() finding {
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
