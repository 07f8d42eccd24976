package runview

import (
	"math"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	// paceWindow is how far back the pace of a run under way is measured, and
	// leastMeasured how long at least before anything is said of it.
	paceWindow    = 3 * time.Minute
	leastMeasured = 10 * time.Second
	// leastForecast is how long a pace must have been measured before it is said how long
	// the rest takes.
	leastForecast = 5 * time.Minute
	// silence is how long a stream may say nothing before that counts as time in which
	// nothing was collected. Progress becomes visible with the next commit.
	silence = 30 * time.Second
	// doubt widens what is left in both directions: providers are not clocks.
	doubt = 1.25
	// longestLeft is beyond what anybody can tell.
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
	began   time.Time // of the lap: the first of its counts
	samples []sample  // of counts that do not fall, the oldest first
}

type sample struct {
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
	s.samples = append(s.samples, sample{at, count})
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
	if now.Sub(last.at) > silence {
		pace = slack
	}
	out.PerMinute = &pace
	if last.at.Sub(s.began) >= leastForecast {
		out.LeftLow, out.LeftHigh = left(out.Considered, s.count, brisk, slack)
	}
	return out
}

// left bounds the seconds that are left by the briskest and the slackest pace; nil
// when the total is not known, nothing moves, or it is too far away to tell.
func left(considered *int64, count, brisk, slack float64) (low, high *int64) {
	if considered == nil || slack <= 0 {
		return nil, nil
	}
	rest := math.Max(0, float64(*considered)-count)
	soonest, latest := math.Floor(rest/brisk*60/doubt), math.Ceil(rest/slack*60*doubt)
	if latest > longestLeft {
		return nil, nil
	}
	a, b := int64(soonest), int64(latest)
	return &a, &b
}
