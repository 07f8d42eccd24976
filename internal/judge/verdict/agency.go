package verdict

import (
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// The questions that the action rules ask. The owner is asked for something
// only where no operation of the system, with the access that it has, helps.

func (r *reading) terminal() bool  { return r.disposition == health.DispositionTerminal }
func (r *reading) resumable() bool { return r.disposition == health.DispositionResumable }

// reportedTotals returns the totals of the source that disagree with what was listed, if nothing else
// makes the connection partial. Then no run is known to collect more.
func (r *reading) reportedTotals() []*evidence.Total {
	if !r.resumable() || r.in.Snapshot.Axes.Coverage != health.Partial {
		return nil
	}
	var totals []*evidence.Total
	for i := range r.in.Streams {
		s := &r.in.Streams[i]
		if !votes(s) || r.dispositions[i] != health.DispositionResumable {
			continue
		}
		if s.Total == nil {
			return nil
		}
		totals = append(totals, s.Total)
	}
	return totals
}

// refreshDue reports whether the owner alone can make stale data newer.
func (r *reading) refreshDue() bool {
	return r.disposition == health.DispositionOwnerRefreshDue || r.manualOnly && r.stale()
}

// lacks reports whether the installation fails the connector, and whether that
// keeps the connector from running at all.
func (r *reading) lacks(blocking bool) bool {
	return r.runtime != nil && (r.runtime.Severity == health.BlockedSeverity) == blocking
}

// noDevice reports whether every device that fed the connection was revoked.
func (r *reading) noDevice() bool {
	return r.runtime != nil && r.runtime.Reason == health.ReasonNoDevice
}

// doubled reports whether two installations use the access of a device that feeds it.
func (r *reading) doubled() bool {
	return r.runtime != nil && r.runtime.Reason == health.ReasonDeviceDoubled
}

// backed reports whether something may be concluded although evidence could not
// be read: a condition about it is current and fails.
func (r *reading) backed(t health.ConditionType) bool {
	return !r.unreliable || failing(&r.in.Snapshot, t) != nil
}

// selfHandled reports whether what is missing is on its way without the owner:
// a run is under way, or the data is fresh and a later run is sure to start.
func (r *reading) selfHandled() bool {
	if r.syncing {
		return true
	}
	if r.rejects() || !r.fresh() || r.state() == health.Blocked || r.manualOnly {
		return false
	}
	s := &r.in.Snapshot
	return r.active || r.state() == health.CoolingOff || s.NextAttemptAt != nil || r.underPressure() ||
		r.in.Schedule == nil && (r.mode() == health.ModeScheduled || r.mode() == health.ModeDeferred)
}

// rejects reports whether what is missing broke the connector's own declaration: the same connector
// would most likely send it so again.
func (r *reading) rejects() bool {
	for i := range r.in.Streams {
		if s := &r.in.Streams[i]; s.Rejected && votes(s) {
			return true
		}
	}
	return false
}

// underPressure reports whether the next run is delayed for the source's sake.
func (r *reading) underPressure() bool {
	if r.in.Snapshot.ReasonCode == health.ReasonPressure || r.mustWait() {
		return true
	}
	c := failing(&r.in.Snapshot, health.RetryPolicyClear)
	return c != nil && c.Reason == health.ReasonPressure
}

// mustWait reports whether a run that the owner starts would have to wait for the
// provider: nobody is asked for one before.
func (r *reading) mustWait() bool {
	return r.in.Schedule != nil && r.in.Schedule.SourceWaits
}

// fixable reports whether a run that nothing else starts would fix the
// connection: it is degraded without a schedule, or the scheduler gave it up.
func (r *reading) fixable() bool {
	settled := r.disposition == health.DispositionComplete || r.disposition == health.DispositionChecking
	if !settled || r.paused || r.syncing {
		return false
	}
	s := &r.in.Snapshot
	switch r.state() {
	case health.Degraded:
		return !r.active && (r.stale() || failing(s, health.CollectionSucceeded) != nil)
	case health.Blocked:
		return r.stale() || failing(s, health.CollectionSucceeded) != nil || r.delayed
	default:
		return false
	}
}

// neverRun reports whether the connection only waits for its owner to start it.
// A device starts by itself, on its host.
func (r *reading) neverRun() bool {
	schedule := r.in.Schedule
	return schedule != nil && schedule.Mode == health.NoSchedule && !schedule.HasPriorSuccess && !r.syncing &&
		r.state() == health.Idle && r.disposition == health.DispositionChecking && r.mode() != health.ModeLocalDevice
}

func everyRequired(r *reading) []string {
	return r.pick(func(health.Disposition) bool { return true })
}

func terminalStreams(r *reading) []string {
	return r.pick(func(d health.Disposition) bool { return d == health.DispositionTerminal })
}

func resumableStreams(r *reading) []string {
	return r.pick(func(d health.Disposition) bool { return d == health.DispositionResumable })
}

// awaitingStreams are those that wait for the answer, or all when the question
// is not about some of them.
func awaitingStreams(r *reading) []string {
	if !r.anyRequired(health.DispositionAwaitingOwner) {
		return everyRequired(r)
	}
	return r.pick(func(d health.Disposition) bool { return d == health.DispositionAwaitingOwner })
}

func (r *reading) pick(wanted func(health.Disposition) bool) []string {
	ids := make([]string, 0, len(r.in.Streams))
	for i := range r.in.Streams {
		if s := &r.in.Streams[i]; votes(s) && wanted(r.dispositions[i]) {
			ids = append(ids, s.StreamID)
		}
	}
	return ids
}
