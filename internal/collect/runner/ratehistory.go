package runner

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// maxRatePoints bounds the rate history of a run.
const maxRatePoints = 120

// RateHistory is the pace of a run over time, sampled evenly. It contains the first and the last observation, and every
// back-off unless there are too many.
type RateHistory struct {
	Observed int64       `json:"observed"` // rates that the connector reported
	Backoffs int64       `json:"backoffs"` // back-offs seen in them
	Points   []RatePoint `json:"points"`   // in the order of time
}

// RatePoint is one observation. Backoff is the reason of a slowdown since the previous observation, or empty.
type RatePoint struct {
	OffsetMS   int64                      `json:"offset_ms"` // since the run's start
	IntervalMS float64                    `json:"interval_ms"`
	Backoff    protocol.RateBackoffReason `json:"backoff,omitzero"`
}

// RateSeries collects a RateHistory in bounded memory. The zero value is ready for use.
type RateSeries struct {
	points   []RatePoint // without the last observation
	last     RatePoint
	backoff  *protocol.RateBackoff // of the last observation
	spacing  int64                 // ms between two points without a back-off
	observed int64
	backoffs int64
}

// Observe adds the rate at a time since the run's start. Times must not decrease.
func (s *RateSeries) Observe(since time.Duration, r *protocol.CollectionRate) {
	p := RatePoint{OffsetMS: since.Milliseconds(), IntervalMS: r.CurrentIntervalMS}
	if s.slowedDown(r) {
		p.Backoff = r.LastBackoff.Reason
		s.backoffs++
	}
	if s.observed > 0 {
		s.addPoint(s.last)
	}
	s.last, s.backoff = p, r.LastBackoff
	s.observed++
}

// slowedDown reports whether the rate has a back-off that the previous rate did not have. A success never lengthens
// the interval, so a longer interval is a new back-off even with the same reason.
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

// addPoint adds a point unless it is too close to the previous one. When the series is full, it thins it first.
func (s *RateSeries) addPoint(p RatePoint) {
	if n := len(s.points); n > 0 && p.Backoff == "" && p.OffsetMS-s.points[n-1].OffsetMS < s.spacing {
		return
	}
	if len(s.points) == maxRatePoints-1 {
		s.thin(p.OffsetMS)
	}
	s.points = append(s.points, p)
}

// thin doubles the spacing and drops the points that are closer. When a third of the points are back-offs, it also
// drops every second back-off.
func (s *RateSeries) thin(now int64) {
	const half, third = maxRatePoints / 2, maxRatePoints / 3
	s.spacing = max(1, 2*s.spacing, (now-s.points[0].OffsetMS)/half+1)
	marks := 0
	for _, p := range s.points[1:] {
		if p.Backoff != "" {
			marks++
		}
	}
	tooMany, mark := marks >= third, 0
	thinned := s.points[:1]
	for _, p := range s.points[1:] {
		if p.Backoff != "" {
			mark++
			if tooMany && mark%2 == 0 {
				continue
			}
		} else if p.OffsetMS-thinned[len(thinned)-1].OffsetMS < s.spacing {
			continue
		}
		thinned = append(thinned, p)
	}
	s.points = thinned
}

// History returns the collected history, or nil when no rate was reported.
func (s *RateSeries) History() *RateHistory {
	if s.observed == 0 {
		return nil
	}
	return &RateHistory{Observed: s.observed, Backoffs: s.backoffs, Points: append(slices.Clone(s.points), s.last)}
}
