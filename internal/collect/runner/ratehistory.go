package runner

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// maxRatePoints bounds the rate history of a run, however long it is and
// however much its connector says.
const maxRatePoints = 120

// RateHistory is how a run's pace went, thinned out evenly over its time. The
// first and the last observation are always among the points, and so is every
// back-off unless there are too many of them.
type RateHistory struct {
	Observed int64       `json:"observed"` // rates that the connector reported
	Backoffs int64       `json:"backoffs"` // back-offs seen in them
	Points   []RatePoint `json:"points"`   // in the order of time
}

// RatePoint is one observation. Backoff tells why the pace slowed down since
// the observation before it; empty when it did not.
type RatePoint struct {
	OffsetMS   int64                      `json:"offset_ms"` // since the run's start
	IntervalMS float64                    `json:"interval_ms"`
	Backoff    protocol.RateBackoffReason `json:"backoff,omitzero"`
}

// RateSeries gathers a RateHistory in bounded memory. The zero value is ready.
type RateSeries struct {
	kept     []RatePoint // without the last observation
	last     RatePoint
	backoff  *protocol.RateBackoff // as the last observation told it
	spacing  int64                 // ms between two kept points that mark nothing
	observed int64
	backoffs int64
}

// Observe takes the next rate, at a time since the run's start that is not
// before the one given last.
func (s *RateSeries) Observe(since time.Duration, r *protocol.CollectionRate) {
	p := RatePoint{OffsetMS: since.Milliseconds(), IntervalMS: r.CurrentIntervalMS}
	if s.slowedDown(r) {
		p.Backoff = r.LastBackoff.Reason
		s.backoffs++
	}
	if s.observed > 0 {
		s.keep(s.last)
	}
	s.last, s.backoff = p, r.LastBackoff
	s.observed++
}

// slowedDown reports whether the rate tells of a back-off that the one before
// did not. A success never lengthens the interval, so that a longer one is a
// back-off even when it is told in the same words as the last.
func (s *RateSeries) slowedDown(r *protocol.CollectionRate) bool {
	switch {
	case r.LastBackoff == nil:
		return false
	case s.backoff == nil:
		return true
	default:
		return *r.LastBackoff != *s.backoff || r.CurrentIntervalMS > s.last.IntervalMS
	}
}

// keep adds a point unless it is too near to the one before, and makes room
// first when there is none.
func (s *RateSeries) keep(p RatePoint) {
	if n := len(s.kept); n > 0 && p.Backoff == "" && p.OffsetMS-s.kept[n-1].OffsetMS < s.spacing {
		return
	}
	if len(s.kept) == maxRatePoints-1 {
		s.thin(p.OffsetMS)
	}
	s.kept = append(s.kept, p)
}

// thin doubles the spacing and drops the points that are nearer than that.
// Where back-offs fill a third of the room, every second of them goes too.
func (s *RateSeries) thin(now int64) {
	const half, third = maxRatePoints / 2, maxRatePoints / 3
	s.spacing = max(1, 2*s.spacing, (now-s.kept[0].OffsetMS)/half+1)
	marks := 0
	for _, p := range s.kept[1:] {
		if p.Backoff != "" {
			marks++
		}
	}
	crowded, mark := marks >= third, 0
	thinned := s.kept[:1]
	for _, p := range s.kept[1:] {
		if p.Backoff != "" {
			mark++
			if crowded && mark%2 == 0 {
				continue
			}
		} else if p.OffsetMS-thinned[len(thinned)-1].OffsetMS < s.spacing {
			continue
		}
		thinned = append(thinned, p)
	}
	s.kept = thinned
}

// History is what was gathered so far; nil when no rate was ever reported.
func (s *RateSeries) History() *RateHistory {
	if s.observed == 0 {
		return nil
	}
	return &RateHistory{Observed: s.observed, Backoffs: s.backoffs, Points: append(slices.Clone(s.kept), s.last)}
}
