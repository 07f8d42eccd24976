package verdict

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// Outline is the verdict in three lines, for somebody who wants to know more
// than the pill and less than the evidence.
type Outline struct {
	Happened string `json:"happened"`
	// Means is empty where all is well: there is nothing to add.
	Means string `json:"means"`
	Next  string `json:"next"`
}

func explain(r *reading, actions []RequiredAction) Outline {
	return Outline{Happened: happened(r), Means: means(r), Next: next(r, actions)}
}

// happened names the newest thing that the state follows from, the one closest
// to the cause first.
func happened(r *reading) string {
	switch {
	case r.noDevice(), r.doubled():
		return r.runtime.Message
	case r.unreliable:
		return unreadSentence(r.in.Snapshot.UnknownReasons)
	case r.stalled:
		return say(hapStalled)
	case r.credential != nil:
		return say(either(r.in.SignsIn, hapSignIn, credentialLine(r.credential)))
	case r.asked:
		return say(either(r.signIn(), hapSignIn, hapAsked))
	case r.runtime != nil && r.runtime.Message != "":
		return r.runtime.Message
	case r.runtime != nil:
		return say(hapRuntime)
	case r.firstRun():
		return say(hapFirstRun)
	case r.syncing:
		return say(hapRunUnderWay)
	case r.gaveUp():
		return say(hapGaveUp)
	case failing(&r.in.Snapshot, health.CollectionSucceeded) != nil:
		return say(hapRunFailed)
	case r.delayed || r.underPressure():
		return say(either(r.underPressure(), hapPressure, hapPause))
	case r.terminal():
		return say(hapTerminal)
	case r.reportedTotals() != nil:
		return totalsSentence(r.reportedTotals())
	case r.resumable():
		return say(hapLeftForLater)
	case r.mode() == health.ModeLocalDevice:
		return say(deviceLine(r.in.Snapshot.Axes.Outbox))
	case r.neverCollected():
		return say(hapNeverRun)
	default:
		return refreshed(r)
	}
}

func credentialLine(c *health.Condition) line {
	switch c.Reason {
	case "credential_required":
		return hapCredentialMissing
	case "credential_insufficient":
		return hapCredentialNarrow
	default:
		return hapCredentialRefused
	}
}

func deviceLine(o health.Outbox) line {
	switch o {
	case health.OutboxActive:
		return stUploading
	case health.OutboxIdle:
		return hapDeviceDone
	default:
		return hapDeviceSilent
	}
}

// refreshed is a run that did what it should, with what it brought.
func refreshed(r *reading) string {
	age, p := r.age(), r.in.Progress
	if age == "" {
		return say(hapRunSucceeded)
	}
	switch {
	case p.Mode == health.ModeDeferred || p.RecordsCommittedLastRun == nil || *p.RecordsCommittedLastRun < 0:
		return beforeAgeFresh + age + "."
	case *p.RecordsCommittedLastRun == 0:
		return beforeAgeFresh + age + afterAgeNothingNew
	default:
		return beforeAgeFresh + age + ", " + counted(*p.RecordsCommittedLastRun, wordNewRecord, wordNewRecords) + "."
	}
}

// means says what follows for the data that is kept and for what is missing. How
// much is missing is for inspection and stands in the rows.
func means(r *reading) string {
	stopped := r.state() == health.Blocked || r.credential != nil && r.credential.Severity == health.BlockedSeverity
	switch {
	case r.unreliable:
		return say(meansUnread)
	case r.stalled:
		return say(meansStalled)
	case stopped || r.asked || r.lacks(true):
		return keptAnd(r, meansStopped, afterKeptStopped)
	case r.firstRun():
		return keptAnd(r, meansFirstRun, afterKeptFirst)
	case r.terminal():
		return say(meansTerminal)
	case r.resumable():
		return say(either(r.reportedTotals() != nil, meansTotals, meansPartMissing))
	case r.neverCollected():
		return say(meansNothingYet)
	case r.disposition == health.DispositionChecking:
		return say(meansNotCounted)
	case r.stale():
		return say(meansStale)
	case !r.fresh():
		return say(stFreshnessUnknown)
	case r.delayed && r.disposition == health.DispositionComplete:
		return say(stLastRunOnly)
	case r.tone == Green:
		return ""
	default:
		return say(either(r.tone == Grey, stUnknown, stOtherwise))
	}
}

// keptAnd tells how much is kept, where that is known and not nothing.
func keptAnd(r *reading, none line, after string) string {
	kept := r.kept()
	if kept <= 0 {
		return say(none)
	}
	return counted(kept, wordRecordIs, wordRecordsAre) + after
}

// next says who does something next and, where time starts it, when.
func next(r *reading, actions []RequiredAction) string {
	at := r.nextIn()
	if len(actions) > 0 && actions[0].Audience != AudienceNone {
		a := &actions[0]
		switch {
		case a.Kind != RetryGap || at == "" || r.mode() == health.ModeLocalDevice:
		case r.mustWait():
			return beforeNext + at + "."
		default:
			return beforeNext + at + afterNextSooner
		}
		return a.CTA + "."
	}
	switch {
	case r.unreliable:
		return say(nextReadAgain)
	case r.syncing:
		return say(either(r.firstRun(), nextFirstRun, nextGoesOn))
	case r.terminal() || r.state() == health.Blocked:
		return say(nextNothing)
	case at != "":
		return beforeNext + at + "."
	case r.mode() == health.ModeLocalDevice:
		return say(nextDevice)
	case r.paused:
		return say(nextScheduleOff)
	case r.mustWait():
		return say(ctaAfterPause) + "."
	default:
		return say(nextByOwner)
	}
}

// nextIn is how long it is until the next attempt, in words that stay true for a
// while; empty when time alone starts none.
func (r *reading) nextIn() string {
	at, p := r.in.Snapshot.NextAttemptAt, r.in.Progress
	if at == nil || p == nil || p.ObservedAt == nil || r.manualOnly {
		return ""
	}
	switch d := at.Sub(*p.ObservedAt); {
	case d <= time.Minute:
		return inAMoment
	case d <= 10*time.Minute:
		return inMinutes
	case d <= time.Hour:
		return inAnHour
	case d < 24*time.Hour:
		return beforeHours + text.Number(int64((d+time.Hour-1)/time.Hour)) + afterHours
	case d < 48*time.Hour:
		return inADay
	default:
		return beforeHours + text.Number(int64(d/(24*time.Hour))) + afterDaysAhead
	}
}

// neverCollected reports whether no run has ended, and no device speaks for one.
func (r *reading) neverCollected() bool {
	c := r.in.Snapshot.Condition(health.CollectionSucceeded)
	return c != nil && c.Status == health.StatusUnknown && r.mode() != health.ModeLocalDevice
}

// firstRun reports whether a run is under way and none has ended before.
func (r *reading) firstRun() bool { return r.syncing && r.neverCollected() }

func (r *reading) gaveUp() bool {
	c := failing(&r.in.Snapshot, health.RetryPolicyClear)
	return c != nil && c.Severity == health.BlockedSeverity
}

// kept is how many records are kept; zero also where that is not known.
func (r *reading) kept() int64 {
	if p := r.in.Progress; p != nil && p.RetainedRecords != nil {
		return *p.RetainedRecords
	}
	return 0
}
