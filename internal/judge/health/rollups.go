package health

import "github.com/pdpp-go/pdpp/internal/judge/evidence"

// streams returns the rollup of each stream in manifest order.
func (r *reading) streams() []StreamRollup {
	out := make([]StreamRollup, len(r.Streams))
	for i := range r.Streams {
		s := &r.Streams[i]
		c := r.streamCoverage(s)
		out[i] = StreamRollup{
			StreamID: s.Name, Priority: priority(s), Coverage: c, GapRetryable: r.Gaps.Outstanding(s.Name),
			SelfReported:  s.SelfReported,
			AttentionOpen: r.attention != AttentionNone && outstanding(c),
			Absent:        c == Complete && absentAtSource(s),
			NotReached:    c == Partial && notReached(s),
			Rejected:      c == RetryableGap && s.Fact != nil && s.Fact.Skip != nil && recordsRejected(r.Evidence, s),
		}
		if c == Partial && shortTotalOnly(r.Evidence, s.Fact) {
			out[i].Total = s.Fact.Drift.Total
		}
		out[i].Retained = measured(s.Retained)
		out[i].Missing, out[i].MissingIsFloor = r.missing(s, c)
		if s.Fact != nil {
			out[i].Collected, out[i].Considered = &s.Fact.Collected, measured(s.Fact.Considered)
		}
	}
	return out
}

// noneMissing is the count of every complete stream. It is never modified.
var noneMissing int64

// missing counts what the stream lacks: its gaps, or else what the newest run considered but did not cover. It
// returns zero only if the stream is complete, and nil if the count is unknown.
func (r *reading) missing(s *evidence.Stream, c Coverage) (n *int64, floor bool) {
	if waiting := r.Gaps.Waiting(s.Name); waiting > 0 {
		return &waiting, true
	}
	switch {
	case c == Complete && acceptedLabel(s.Policy) == "":
		return &noneMissing, false
	case c == Partial && s.Fact != nil && s.Fact.Short():
		short := *s.Fact.Considered - *s.Fact.Covered
		return &short, false
	case c == Partial && s.Fact != nil && s.Fact.TotalShort():
		short := s.Fact.Drift.Total.Announced - s.Fact.Drift.Total.Counted
		return &short, false
	default:
		return nil, false
	}
}

// streamCoverage returns the stream's coverage according to runs. If the axis comes from the devices' diagnostics,
// those decide.
func (r *reading) streamCoverage(s *evidence.Stream) Coverage {
	c := streamCoverage(r.Evidence, s)
	if c != CoverageUnknown || !r.coverage.diagnosed {
		return c
	}
	if r.coverage.axis == Complete {
		return Complete
	}
	for _, store := range r.Device.Stores {
		if store.Stream == s.Name && store.Accounted() {
			c = Complete
		}
	}
	for _, store := range r.Device.Stores {
		if store.Stream == s.Name && !store.Accounted() {
			c = Gapped
		}
	}
	return c
}

func priority(s *evidence.Stream) Priority {
	switch {
	case s.Required:
		return RequiredStream
	case acceptedLabel(s.Policy) != "":
		return AcceptedAbsence
	default:
		return OptionalStream
	}
}

// collectionMode holds how the connection collects, in one allocation.
type collectionMode struct {
	refresh  RefreshEvidence
	schedule ScheduleEvidence
	progress ProgressEvidence
}

// collectionMode returns what a verdict needs besides snapshot and streams.
func (r *reading) collectionMode() *collectionMode {
	m := &collectionMode{}
	if p := r.Refresh; p != nil {
		m.refresh = RefreshEvidence{
			RecommendedMode: string(p.RecommendedMode), BackgroundSafe: p.BackgroundSafe,
			InteractionPosture: string(p.InteractionPosture),
		}
	}
	m.schedule = ScheduleEvidence{Mode: ScheduleActive, HasPriorSuccess: r.LastSuccessAt != nil,
		SourceWaits: r.timing.Wait != nil}
	switch {
	case r.paused():
		m.schedule.Mode = SchedulePaused
	case !r.scheduleCounts():
		m.schedule.Mode = NoSchedule
	}
	m.progress = ProgressEvidence{Mode: r.mode(), LastRefreshedAt: r.capturedAt, ObservedAt: r.seen}
	if r.Records != nil {
		m.progress.RetainedRecords = measured(&r.Records.Retained)
	}
	if r.LastRun != nil {
		m.progress.RecordsCommittedLastRun, m.progress.GapsDrainedLastRun = measured(r.LastRun.Committed),
			measured(r.LastRun.Recovered)
	}
	return m
}

// mode returns how the connection collects. A schedule with runs that only close gaps is deferred: its count of
// records per run would always be zero.
func (r *reading) mode() Mode {
	switch {
	case r.LocalDevice():
		return ModeLocalDevice
	case !r.scheduleCounts() || r.paused():
		return ModeManual
	case r.drainsOnly():
		return ModeDeferred
	default:
		return ModeScheduled
	}
}

func (r *reading) drainsOnly() bool {
	if r.LastRun == nil || r.LastRun.Committed == nil || *r.LastRun.Committed > 0 {
		return false
	}
	return positive(r.LastRun.Recovered) || r.Gaps != nil && positive(r.Gaps.Recovered)
}

func positive(n *int64) bool { return n != nil && *n > 0 }
