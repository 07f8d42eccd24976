package verdict

import (
	"cmp"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// reading is the input with derived values for the rules. It is built once per verdict.
type reading struct {
	in           Input
	dispositions []health.Disposition  // of in.Streams, by index
	few          [4]health.Disposition // backing array for few streams
	disposition  health.Disposition    // of the connection: the worst of the voting streams
	coverage     health.Coverage       // the worst of the voting streams
	tone         Tone

	credential *health.Condition // CredentialsValid, when it currently fails
	ending     *health.Condition // CredentialContinuity, when the sign-in ends and cannot be extended
	runtime    *health.Condition // set if the installation lacks something
	unreliable bool              // evidence could not be read
	delayed    bool              // the scheduler delays runs or gave up
	manualOnly bool
	syncing    bool
	active     bool // a schedule starts runs
	paused     bool // a schedule exists and is off
	asked      bool // a question waits for the owner
	stalled    bool
}

func newReading(in Input) *reading {
	r := &reading{in: in}
	s := &r.in.Snapshot
	r.manualOnly = in.Refresh.ManualOnly()
	r.syncing = s.Badges.Syncing
	r.stalled = s.Axes.Outbox == health.OutboxStalled
	r.unreliable = s.State == health.Unknown && len(s.UnknownReasons) > 0
	r.readConditions()
	if in.Schedule != nil {
		// If only the owner starts runs, an enabled schedule starts nothing. A disabled one stops nothing unless the owner
		// paused the connection.
		r.active = in.Schedule.Mode == health.ScheduleActive && !r.manualOnly
		r.paused = in.Schedule.Mode == health.SchedulePaused && (!r.manualOnly || failing(s, health.ScheduleEligible) != nil)
	}
	r.readStreams()
	r.asked = attentionWaiting(s.Axes.Attention) || knownDisposition(s.Disposition) == health.DispositionAwaitingOwner ||
		r.anyRequired(health.DispositionAwaitingOwner)
	return r
}

// readConditions collects the failing conditions in one pass.
func (r *reading) readConditions() {
	var surface *health.Condition
	for i := range r.in.Snapshot.Conditions {
		c := &r.in.Snapshot.Conditions[i]
		if !c.Fails() {
			continue
		}
		switch c.Type {
		case health.CredentialsValid:
			r.credential = cmp.Or(r.credential, c)
		case health.CredentialContinuity:
			if c.Reason == health.ReasonCredentialEnding || c.Reason == health.ReasonCredentialLastDays {
				r.ending = cmp.Or(r.ending, c)
			}
		case health.RuntimeAvailable:
			r.runtime = cmp.Or(r.runtime, c)
		case health.RemoteSurfaceAvailable:
			surface = cmp.Or(surface, c)
		case health.ProjectionReliable:
			r.unreliable = true
		case health.RetryPolicyClear:
			r.delayed = true
		}
	}
	r.runtime = cmp.Or(r.runtime, surface)
}

// readStreams derives the disposition of each stream and lets the required ones vote. Optional streams and accepted
// absences have a row but no vote.
func (r *reading) readStreams() {
	in := &r.in
	r.disposition = knownDisposition(in.Snapshot.Disposition)
	if len(in.Streams) == 0 {
		r.coverage = in.Snapshot.Axes.Coverage
		return
	}
	r.coverage = health.Complete
	r.dispositions = r.few[:0]
	for i := range in.Streams {
		s := &in.Streams[i]
		d := health.DeriveDisposition(health.DispositionInput{
			Coverage: s.Coverage, Attention: s.AttentionOpen,
			Freshness: in.Snapshot.Axes.Freshness, ManualOnly: r.manualOnly,
		})
		r.dispositions = append(r.dispositions, d)
		if !votes(s) {
			continue
		}
		if dispositionRank(d) > dispositionRank(r.disposition) {
			r.disposition = d
		}
		if s.Coverage != r.coverage &&
			toneRank(toneOf(axisCoverage, string(s.Coverage))) > toneRank(toneOf(axisCoverage, string(r.coverage))) {
			r.coverage = s.Coverage
		}
	}
}

func (r *reading) anyRequired(d health.Disposition) bool {
	for i := range r.dispositions {
		if r.dispositions[i] == d && votes(&r.in.Streams[i]) {
			return true
		}
	}
	return false
}

// votes reports whether a stream counts. A stream of unknown priority does.
func votes(s *health.StreamRollup) bool {
	return s.Priority != health.OptionalStream && s.Priority != health.AcceptedAbsence
}

// fresh and stale read the axis; both are false if freshness is unknown.
func (r *reading) fresh() bool { return r.in.Snapshot.Axes.Freshness == health.Fresh }
func (r *reading) stale() bool { return r.in.Snapshot.Axes.Freshness == health.Stale }

func (r *reading) freshnessUnknown() bool { return !r.fresh() && !r.stale() }

func (r *reading) state() health.State { return r.in.Snapshot.State }

func (r *reading) mode() health.Mode {
	if r.in.Progress == nil {
		return health.ModeManual
	}
	switch m := r.in.Progress.Mode; m {
	case health.ModeScheduled, health.ModeDeferred, health.ModeLocalDevice:
		return m
	default:
		return health.ModeManual
	}
}

// failing returns the currently failing condition of the type, or nil.
func failing(s *health.Snapshot, t health.ConditionType) *health.Condition {
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Fails() && c.Type == t {
			return c
		}
	}
	return nil
}

func attentionWaiting(a health.AttentionAxis) bool {
	return a == health.AttentionOpen || a == health.AttentionAcknowledged || a == health.AttentionInProgress
}

// dispositionOrder ranks dispositions from best to worst.
var dispositionOrder = [...]health.Disposition{
	health.DispositionComplete, health.DispositionOwnerRefreshDue, health.DispositionChecking,
	health.DispositionResumable, health.DispositionAwaitingOwner, health.DispositionTerminal,
}

func dispositionRank(d health.Disposition) int {
	for i := range dispositionOrder {
		if dispositionOrder[i] == d {
			return i
		}
	}
	return dispositionRank(health.DispositionChecking)
}

func knownDisposition(d health.Disposition) health.Disposition {
	return dispositionOrder[dispositionRank(d)]
}
