package health

import (
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// conditions returns the conditions in the order of ConditionTypes.
func (r *reading) conditions() []Condition {
	all := make([]Condition, 0, len(ConditionTypes))
	add := func(f finding) {
		all = append(all, Condition{})
		f.write(&all[len(all)-1], r.seen)
	}
	add(r.projectionReliable())
	add(r.scheduleEligible())
	add(r.retryPolicyClear())
	add(r.attentionClear())
	add(r.collectionSucceeded())
	add(r.credentialsValid())
	add(r.credentialContinuity())
	add(r.runtimeAvailable())
	add(r.remoteSurface())
	add(r.localExporter())
	add(r.backlogClear())
	add(r.sourceCoverage())
	add(r.fresh())
	return all
}

// finding is a table row with what the evidence adds to it.
type finding struct {
	row       *ConditionKind
	reason    string // replaces the row's reason unless empty
	observed  *time.Time
	expires   *time.Time
	names     *strings.Replacer // replaces the placeholders of the row's texts; nil if there are none
	redacted  bool
	over      bool // the evidence no longer counts
	ofStreams []string
}

func (f *finding) write(c *Condition, seen *time.Time) {
	c.ConditionKind, c.ObservedAt, c.ExpiresAt, c.Streams = f.row, f.observed, f.expires, f.ofStreams
	c.Current, c.Sensitivity = !f.over, SensitivityOwner
	if f.redacted {
		c.Sensitivity = SensitivityRedacted
	}
	if f.observed == nil && f.row.Status == False {
		c.ObservedAt = seen // a failure without a time of its own is dated now
	}
	reason := f.reason != "" && f.reason != f.row.Reason
	if !reason && f.names == nil {
		return
	}
	own := *f.row
	c.ConditionKind = &own
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

// observedAt returns a finding for the row.
func (k *ConditionKind) observedAt(observed *time.Time) finding {
	return finding{row: k, observed: observed}
}

// withReason replaces the row's reason with a reason from the evidence, if that is safe to show.
func (f finding) withReason(reason string) finding {
	f.reason, f.redacted = safeReason(reason, f.row.Reason)
	return f
}

// withNames fills in the name of what the connector lacks, if that is safe to show.
func (f finding) withNames(name, connector string) finding {
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
		return projectionUnreliable.observedAt(r.seen)
	}
	return projectionCurrent.observedAt(r.seen)
}

func (r *reading) scheduleEligible() finding {
	var set *time.Time
	if r.Schedule != nil {
		set = &r.Schedule.UpdatedAt
	}
	switch {
	case r.paused():
		return schedulePaused.observedAt(set)
	case r.Schedule == nil:
		return scheduleNotConfigured.observedAt(nil)
	case !r.scheduleCounts():
		return scheduleNotFollowed.observedAt(set)
	default:
		return scheduleEnabled.observedAt(set)
	}
}

// giveUpFailures is the number of consecutive failures of one class after which the scheduler stops trying.
const giveUpFailures = 7

// retryPolicyClear fails while a delay is in force, until it is over or a later run succeeds. Failures without a
// delay only count, until the scheduler gives up. Of the delay after failures, the provider's wait and the cool-down,
// the longest is shown. Without a schedule only a provider wait delays anything.
func (r *reading) retryPolicyClear() finding {
	b := r.Backoff
	gaveUp := b != nil && b.Failures >= giveUpFailures
	delays := b != nil && (b.NextAttemptAt != nil || gaveUp)
	over := delays && (cadence.CurrentBackoff(r.Evidence) == nil || expired(b.NextAttemptAt, r.now))
	held := delays && !over && r.scheduleCounts()
	longer := func(t time.Time) bool { return held && b.NextAttemptAt.After(t) }
	switch {
	case held && gaveUp:
		return backoffGivenUp.observedAt(&b.ObservedAt).withReason(classSuffix(b.Class)).until(b.NextAttemptAt)
	case r.timing.Cooldown != nil && !longer(r.timing.Cooldown.Until) &&
		(r.timing.Wait == nil || r.timing.Cooldown.Until.After(r.timing.Wait.Until)):
		return sourcePressed.observedAt(&r.timing.Cooldown.Since).until(&r.timing.Cooldown.Until)
	case r.timing.Wait != nil && !longer(r.timing.Wait.Until):
		return sourcePressed.observedAt(&r.timing.Wait.At).until(&r.timing.Wait.Until)
	case held:
		return backoffActive.observedAt(&b.ObservedAt).withReason(classSuffix(b.Class)).until(b.NextAttemptAt)
	case over:
		return backoffExpired.observedAt(&b.ObservedAt).until(b.NextAttemptAt).past()
	case r.manualOnly:
		return retryNotApplicable.observedAt(nil)
	case b != nil:
		return noActiveBackoff.observedAt(&b.ObservedAt)
	default:
		return noActiveBackoff.observedAt(nil)
	}
}

func (r *reading) attentionClear() finding {
	switch q := r.question; {
	case q != nil:
		return attentionRequired.observedAt(&q.OpenedAt).withReason(q.Reason).until(q.ExpiresAt)
	case r.closed != nil:
		return attentionExpired.observedAt(&r.closed.OpenedAt).until(r.closed.ExpiresAt).past()
	default:
		return noOpenAttention.observedAt(nil)
	}
}

func (r *reading) collectionSucceeded() finding {
	switch {
	case r.LastRun == nil && r.deviceVerdict():
		return collectionByDevice.observedAt(r.capturedAt)
	case r.LastRun == nil:
		return collectionNotObserved.observedAt(nil)
	case r.LastRun.Status == evidence.RunSucceeded:
		return collectionSucceeded.observedAt(&r.LastRun.EndedAt)
	}
	c := collectionFailed.observedAt(&r.LastRun.EndedAt)
	if f := r.LastRun.Failure; f != nil {
		c = c.withReason(failureReason(f))
	}
	return c
}

// failureReason returns the connector's own code if there is one, and otherwise the reason.
func failureReason(f *evidence.Failure) string {
	if f.Code != "" {
		return f.Code
	}
	return f.Reason
}
