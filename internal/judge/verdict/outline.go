package verdict

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// Outline is the verdict in three lines, between the pill and the evidence in detail.
type Outline struct {
	Happened string `json:"happened"`
	// Means is empty if all is well.
	Means string `json:"means"`
	Next  string `json:"next"`
}

func buildOutline(r *reading, actions []RequiredAction) Outline {
	return Outline{Happened: outlineHappened(r), Means: outlineMeans(r), Next: outlineNext(r, actions)}
}

// outlineHappened returns the newest event that explains the state, the one closest to the cause first.
func outlineHappened(r *reading) string {
	switch {
	case r.noDevice(), r.doubled():
		return r.runtime.Message
	case r.unreliable:
		return unreadSentence(r.in.Snapshot.UnknownReasons)
	case r.stalled:
		return sentence(hapStalled)
	case r.credential != nil:
		return sentence(choose(r.in.SignsIn, hapSignIn, credentialLine(r.credential)))
	case r.asked:
		return sentence(choose(r.signIn(), hapSignIn, hapAsked))
	case r.runtime != nil && r.runtime.Message != "":
		return r.runtime.Message
	case r.runtime != nil:
		return sentence(hapRuntime)
	case r.firstRun():
		return sentence(hapFirstRun)
	case r.syncing:
		return sentence(hapRunUnderWay)
	case r.gaveUp():
		return sentence(hapGaveUp)
	case failing(&r.in.Snapshot, health.CollectionSucceeded) != nil:
		return sentence(hapRunFailed)
	case r.delayed || r.underPressure():
		return sentence(choose(r.underPressure(), hapPressure, hapPause))
	case r.terminal():
		return sentence(hapTerminal)
	case r.reportedTotals() != nil:
		return totalsSentence(r.reportedTotals())
	case r.resumable():
		return sentence(hapLeftForLater)
	case r.mode() == health.ModeLocalDevice:
		return sentence(deviceLine(r.in.Snapshot.Axes.Outbox))
	case r.neverCollected():
		return sentence(hapNeverRun)
	default:
		return refreshed(r)
	}
}

func credentialLine(c *health.Condition) sentenceID {
	switch c.Reason {
	case "credential_required":
		return hapCredentialMissing
	case "credential_insufficient":
		return hapCredentialNarrow
	default:
		return hapCredentialRefused
	}
}

func deviceLine(o health.Outbox) sentenceID {
	switch o {
	case health.OutboxActive:
		return stUploading
	case health.OutboxIdle:
		return hapDeviceDone
	default:
		return hapDeviceSilent
	}
}

// refreshed describes a successful run and what it collected.
func refreshed(r *reading) string {
	age, p := r.age(), r.in.Progress
	if age == "" {
		return sentence(hapRunSucceeded)
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

// outlineMeans returns the consequence for stored and missing data. Counts of missing items are only in the stream
// rows.
func outlineMeans(r *reading) string {
	stopped := r.state() == health.Blocked || r.credential != nil && r.credential.Severity == health.BlockedSeverity
	switch {
	case r.unreliable:
		return sentence(meansUnread)
	case r.stalled:
		return sentence(meansStalled)
	case stopped || r.asked || r.runtimeLacking(true):
		return storedAnd(r, meansStopped, afterKeptStopped)
	case r.firstRun():
		return storedAnd(r, meansFirstRun, afterKeptFirst)
	case r.terminal():
		return sentence(meansTerminal)
	case r.resumable():
		return sentence(choose(r.reportedTotals() != nil, meansTotals, meansPartMissing))
	case r.neverCollected():
		return sentence(meansNothingYet)
	case r.disposition == health.DispositionChecking:
		return sentence(meansNotCounted)
	case r.stale():
		return sentence(meansStale)
	case !r.fresh():
		return sentence(stFreshnessUnknown)
	case r.delayed && r.disposition == health.DispositionComplete:
		return sentence(stLastRunOnly)
	case r.tone == Green:
		return ""
	default:
		return sentence(choose(r.tone == Grey, stUnknown, stOtherwise))
	}
}

// storedAnd returns a sentence with the number of stored records, or the line if there are none or the number is
// unknown.
func storedAnd(r *reading, none sentenceID, after string) string {
	kept := r.storedRecords()
	if kept <= 0 {
		return sentence(none)
	}
	return counted(kept, wordRecordIs, wordRecordsAre) + after
}

// outlineNext returns who acts next and, if time starts it, when.
func outlineNext(r *reading, actions []RequiredAction) string {
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
		return sentence(nextReadAgain)
	case r.syncing:
		return sentence(choose(r.firstRun(), nextFirstRun, nextGoesOn))
	case r.terminal() || r.state() == health.Blocked:
		return sentence(nextNothing)
	case at != "":
		return beforeNext + at + "."
	case r.mode() == health.ModeLocalDevice:
		return sentence(nextDevice)
	case r.paused:
		return sentence(nextScheduleOff)
	case r.mustWait():
		return sentence(ctaAfterPause) + "."
	default:
		return sentence(nextByOwner)
	}
}

// nextIn returns the time until the next attempt in words that stay true for a while; empty if time does not start
// one.
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

// neverCollected reports whether no run has ended and no device delivered.
func (r *reading) neverCollected() bool {
	c := r.in.Snapshot.Condition(health.CollectionSucceeded)
	return c != nil && c.Status == health.StatusUnknown && r.mode() != health.ModeLocalDevice
}

// firstRun reports whether the connection's first run is in progress.
func (r *reading) firstRun() bool { return r.syncing && r.neverCollected() }

func (r *reading) gaveUp() bool {
	c := failing(&r.in.Snapshot, health.RetryPolicyClear)
	return c != nil && c.Severity == health.BlockedSeverity
}

// storedRecords returns how many records are stored; zero also if unknown.
func (r *reading) storedRecords() int64 {
	if p := r.in.Progress; p != nil && p.RetainedRecords != nil {
		return *p.RetainedRecords
	}
	return 0
}
