package runview

import (
	"math"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	// paceWindow is the period over which the pace of an active run is measured. leastMeasured is the shortest
	// measurement that yields a pace.
	paceWindow    = 3 * time.Minute
	leastMeasured = 10 * time.Second
	// leastForecast is how long a pace must have been measured before the remaining time is estimated.
	leastForecast = 5 * time.Minute
	// silentAfter is how long a stream may report nothing before the silence lowers its pace. Progress becomes
	// visible with the next commit.
	silentAfter = 30 * time.Second
	// unreliableAfter widens what is left in both directions: providers are not clocks.
	unreliableAfter = 1.25
	// longestLeft is the longest remaining time that is estimated.
	longestLeft = 30 * 24 * 3600

	samplesKept   = 128
	sampleSpacing = time.Second
)

// streamProgress is how far a run has come with one stream.
type streamProgress struct {
	name    string
	message string
	count   float64
	total   *float64
	began   time.Time        // of the lap: the first of its counts
	samples []progressSample // of counts that do not fall, the oldest first
}

type progressSample struct {
	at    time.Time
	count float64
}

// observe takes the next count. One that is lower than the last begins another lap.
func (s *streamProgress) observe(at time.Time, count float64) {
	if n := len(s.samples); n > 0 {
		last := s.samples[n-1]
		switch {
		case count < s.count || at.Before(last.at):
			s.samples = s.samples[:0]
		case n > 1 && at.Sub(s.samples[n-2].at) < sampleSpacing:
			s.samples = s.samples[:n-1]
		}
	}
	if len(s.samples) == 0 {
		s.began = at
	}
	s.count = count
	s.samples = append(s.samples, progressSample{at, count})
	for len(s.samples) > samplesKept || len(s.samples) > 2 && at.Sub(s.samples[1].at) >= paceWindow {
		s.samples = s.samples[1:]
	}
}

// show is what is known of a stream at a moment.
func (s *streamProgress) show(now time.Time) api.RunStream {
	out := api.RunStream{Name: s.name, Records: int64(s.count), Message: s.message}
	if s.total != nil {
		total := int64(math.Max(*s.total, s.count))
		out.Considered = &total
	}
	if len(s.samples) < 2 {
		return out
	}
	first, last := s.samples[0], s.samples[len(s.samples)-1]
	gained := last.count - first.count
	spoken, waited := last.at.Sub(first.at), now.Sub(first.at)
	if spoken < leastMeasured || waited < spoken {
		return out
	}
	brisk, slack := gained/spoken.Minutes(), gained/waited.Minutes()
	pace := brisk
	if now.Sub(last.at) > silentAfter {
		pace = slack
	}
	out.PerMinute = &pace
	if last.at.Sub(s.began) >= leastForecast {
		out.LeftLow, out.LeftHigh = remainingSeconds(out.Considered, s.count, brisk, slack)
	}
	return out
}

// remainingSeconds returns bounds for the remaining seconds at the fastest and the slowest pace. It returns nil if
// the total is unknown, nothing advances, or the estimate exceeds longestLeft.
func remainingSeconds(considered *int64, count, brisk, slack float64) (low, high *int64) {
	if considered == nil || slack <= 0 {
		return nil, nil
	}
	rest := math.Max(0, float64(*considered)-count)
	soonest, latest := math.Floor(rest/brisk*60/unreliableAfter), math.Ceil(rest/slack*60*unreliableAfter)
	if latest > longestLeft {
		return nil, nil
	}
	a, b := int64(soonest), int64(latest)
	return &a, &b
}
