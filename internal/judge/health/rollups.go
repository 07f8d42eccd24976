package health

import "github.com/pdpp-go/pdpp/internal/judge/evidence"

// streams rolls the streams up one by one, in the manifest's order.
func (r *reading) streams() []StreamRollup {
	out := make([]StreamRollup, len(r.Streams))
	for i := range r.Streams {
		s := &r.Streams[i]
		c := r.streamCoverage(s)
		out[i] = StreamRollup{
			StreamID: s.Name, Priority: priority(s), Coverage: c, GapRetryable: r.Gaps.Outstanding(s.Name), AsTold: s.AsTold,
			AttentionOpen: r.attention != AttentionNone && outstanding(c),
			Absent:        c == Complete && absentAtSource(s),
			NotReached:    c == Partial && notReached(s),
			Rejected:      c == RetryableGap && s.Fact != nil && s.Fact.Skip != nil && rejectedAlone(r.Evidence, s),
		}
		if c == Partial && totalAlone(r.Evidence, s.Fact) {
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

// missing counts what the stream lacks: its gaps, else what the newest run
// considered and did not cover. Nothing is missing only where nothing can be.
func (r *reading) missing(s *evidence.Stream, c Coverage) (n *int64, floor bool) {
	waiting := r.Gaps.Waiting(s.Name)
	switch {
	case waiting > 0:
		return &waiting, true
	case c == Complete && acceptedLabel(s.Policy) == "":
		return &waiting, false
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

// streamCoverage is what runs say of the stream or, where the axis rests on the
// devices' account, what that says.
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

// manner is how the connection collects, in one piece of memory.
type manner struct {
	refresh  RefreshEvidence
	schedule ScheduleEvidence
	progress ProgressEvidence
}

// manner reads what a verdict needs besides the snapshot and the streams.
func (r *reading) manner() *manner {
	m := &manner{}
	if p := r.Refresh; p != nil {
		m.refresh = RefreshEvidence{
			RecommendedMode: string(p.RecommendedMode), BackgroundSafe: p.BackgroundSafe, InteractionPosture: string(p.InteractionPosture),
		}
	}
	m.schedule = ScheduleEvidence{Mode: ScheduleActive, HasPriorSuccess: r.LastSuccessAt != nil, SourceWaits: r.wait != nil}
	switch {
	case r.paused():
		m.schedule.Mode = SchedulePaused
	case !r.followed():
		m.schedule.Mode = NoSchedule
	}
	m.progress = ProgressEvidence{Mode: r.mode(), LastRefreshedAt: r.capturedAt, ObservedAt: r.seen}
	if r.Records != nil {
		m.progress.RetainedRecords = measured(&r.Records.Retained)
	}
	if r.LastRun != nil {
		m.progress.RecordsCommittedLastRun, m.progress.GapsDrainedLastRun = measured(r.LastRun.Committed), measured(r.LastRun.Recovered)
	}
	return m
}

// mode is how the connection collects. A scheduled one whose runs commit
// nothing of their own but close gaps is deferred: a count of its records per
// run would always be zero.
func (r *reading) mode() Mode {
	switch {
	case r.LocalDevice():
		return ModeLocalDevice
	case !r.followed() || r.paused():
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
