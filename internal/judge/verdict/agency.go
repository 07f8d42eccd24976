package verdict

import (
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// Predicates of the action rules. The owner is asked only if no operation of the system can help with the access that
// it has.

func (r *reading) terminal() bool  { return r.disposition == health.DispositionTerminal }
func (r *reading) resumable() bool { return r.disposition == health.DispositionResumable }

// reportedTotals returns the source's totals that disagree with what was listed, if nothing else makes the connection
// partial. In that case no run is known to collect more.
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

// refreshDue reports whether only the owner can refresh stale data.
func (r *reading) refreshDue() bool {
	return r.disposition == health.DispositionOwnerRefreshDue || r.manualOnly && r.stale()
}

// runtimeLacking reports whether the installation lacks something, with the severity that blocking selects.
func (r *reading) runtimeLacking(blocking bool) bool {
	return r.runtime != nil && (r.runtime.Severity == health.BlockedSeverity) == blocking
}

// noDevice reports whether every device that fed the connection was revoked.
func (r *reading) noDevice() bool {
	return r.runtime != nil && r.runtime.Reason == health.ReasonNoDevice
}

// doubled reports whether two installations use the access of one device.
func (r *reading) doubled() bool {
	return r.runtime != nil && r.runtime.Reason == health.ReasonDeviceDoubled
}

// supported reports whether a current failing condition of the type allows a conclusion although evidence could not
// be read.
func (r *reading) supported(t health.ConditionType) bool {
	return !r.unreliable || failing(&r.in.Snapshot, t) != nil
}

// selfHandled reports whether missing data arrives without the owner: a run is in progress, or the data is fresh and
// a later run is certain.
func (r *reading) selfHandled() bool {
	if r.syncing {
		return true
	}
	if r.hasRejected() || !r.fresh() || r.state() == health.Blocked || r.manualOnly {
		return false
	}
	s := &r.in.Snapshot
	return r.active || r.state() == health.CoolingOff || s.NextAttemptAt != nil || r.underPressure() ||
		r.in.Schedule == nil && (r.mode() == health.ModeScheduled || r.mode() == health.ModeDeferred)
}

// hasRejected reports whether missing records violate the connector's own declaration. The same connector would most
// likely send them again.
func (r *reading) hasRejected() bool {
	for i := range r.in.Streams {
		if s := &r.in.Streams[i]; s.Rejected && votes(s) {
			return true
		}
	}
	return false
}

// underPressure reports whether the source's pressure delays the next run.
func (r *reading) underPressure() bool {
	if r.in.Snapshot.ReasonCode == health.ReasonPressure || r.mustWait() {
		return true
	}
	c := failing(&r.in.Snapshot, health.RetryPolicyClear)
	return c != nil && c.Reason == health.ReasonPressure
}

// mustWait reports whether a run started by the owner would have to wait for the provider. The owner is not asked for
// a run before that.
func (r *reading) mustWait() bool {
	return r.in.Schedule != nil && r.in.Schedule.SourceWaits
}

// fixableByRun reports whether a run that nothing else starts would fix the connection: it is degraded without a
// schedule, or the scheduler gave up.
func (r *reading) fixableByRun() bool {
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

// neverRun reports whether the connection waits for the owner to start its first run. Devices start on their host.
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

// awaitingStreams returns the streams that wait for the answer, or all if the question is about none in particular.
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
