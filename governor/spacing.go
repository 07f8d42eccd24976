package governor

import "time"

const (
	// tried is how many requests have to pass at the distance that passed before, to
	// show that the provider counts distances.
	tried = 30
	// easedBy is by how much slower than that the trial goes.
	easedBy = 1.02
	// spacedHold is how many intervals of quiet follow a refusal of a distance.
	spacedHold = 1.5
	// lateness weighs the newest answering time; late is how many mean deviations
	// make an answer late.
	lateness, late = 0.1, 5
	// negligible is a deviation in seconds that no wait shows.
	negligible = 1e-12
	// mostStrikes is how many refusals in a row of a distance that had passed show that
	// it is no distance that counts.
	mostStrikes = 6
	// mostSpaced is the widest margin below a limit of distances, where the way to the
	// provider is uneven.
	mostSpaced = 0.2
)

// spacing knows a provider that demands a distance between two requests and has no
// patience for a shorter one. Nothing is gained by a long quiet there, and what it
// delivered over a time is less than what it allows: the limit lies between the
// shortest distance that passed and the one that was refused.
type spacing struct {
	known   bool // the provider counts distances
	patient bool // it was seen not to
	trial   bool
	strikes int // refusals in a row that came early

	gap   float64       // of the request that left last
	last  time.Duration // when it left
	took  float64       // mean answering time
	off   float64       // its mean deviation
	held  float64       // by how much the last request may have arrived late
	least float64       // shortest gap that passed
}

// leaves notes a request that leaves.
func (s *spacing) leaves(at, before time.Duration) {
	s.gap, s.last, s.held = seconds(at-before), at, 0
}

// passed notes a request that was answered at once after it left.
func (s *spacing) passed(at, sent time.Duration) {
	took := seconds(at - sent)
	if sent == s.last {
		if s.least == 0 || s.gap < s.least {
			s.least = s.gap
		}
		if s.took > 0 {
			s.held = max(0, took-s.took-late*s.off)
		}
	}
	if s.took == 0 {
		s.took, s.off = took, took/2
		return
	}
	away := took - s.took
	s.took += lateness * away
	if s.off += lateness * (max(away, -away) - s.off); s.off < negligible {
		s.off = 0 // before it becomes a number that processors reckon slowly with
	}
}

// plausible reports that the refused request came closer to the one before than any
// lately that passed.
func (s *spacing) plausible(sent time.Duration) bool {
	return !s.patient && sent == s.last && s.least > 0 && s.gap < 0.97*s.least
}

// strike counts a refusal that came early, at a pace that had been borne.
func (s *spacing) strike(n float64, early bool) {
	switch {
	case n < few:
		s.strikes += 2
	case early && n < earlyAfter:
		s.strikes++
	default:
		s.strikes = 0
	}
	if s.strikes >= mostStrikes {
		s.reject()
	}
}

// reject settles that the provider does not count distances.
func (s *spacing) reject() { *s = spacing{patient: true, gap: s.gap, last: s.last} }
