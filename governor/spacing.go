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
	// lateness weighs the newest answering time, which counts as at most late mean
	// deviations away from the mean.
	lateness, late = 0.1, 5
	// negligible is a deviation in seconds that no wait shows.
	negligible = 1e-12
	// Where answers come late, the next request waits for as much longer, but for what is
	// usual: so much is taken for usual that the wait is heldShare of the interval on
	// average, where one counts for mostHeld of it at most.
	heldShare, mostHeld = 0.002, 0.05
	// mostDelay is for how many seconds a request without an answer is taken to be on its way.
	mostDelay = 2
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

	gap   float64       // at which the request that left last may have arrived
	last  time.Duration // when it left
	took  float64       // mean answering time
	off   float64       // its mean deviation
	usual float64       // by how much answers may be late without a wait
	held  float64       // by how much the last request may have arrived late
	open  bool          // it is not answered yet
	least float64       // shortest gap that passed
}

// leaves notes a request that leaves. If the one before was held up on its way, this one
// follows it closer than it left.
func (s *spacing) leaves(at, before time.Duration) {
	s.gap, s.last, s.held, s.open = max(0, seconds(at-before)-s.delay(before, at)), at, 0, true
}

// answered notes that something came back of the request that left at sent.
func (s *spacing) answered(sent time.Duration) { s.open = s.open && sent != s.last }

// delay is by how much the request that left last may have arrived late. Before its answer
// it may still be on its way.
func (s *spacing) delay(left, at time.Duration) float64 {
	if s.open && s.took > 0 {
		return min(max(0, seconds(at-left)-s.took-s.usual), mostDelay)
	}
	return s.held
}

// passed notes a request that was answered, at a pace of the given interval. Of a
// request that was held up on its way nothing tells but its answer.
func (s *spacing) passed(at, sent time.Duration, interval float64) {
	took := seconds(at - sent)
	if sent == s.last {
		if s.least == 0 || s.gap < s.least {
			s.least = s.gap
		}
		if s.took > 0 {
			s.held = max(0, took-s.took-s.usual)
			s.usual = max(0, s.usual+lateness*(min(s.held, mostHeld*interval)-heldShare*interval))
		}
	}
	if s.took == 0 {
		s.took, s.off = took, took/2
		return
	}
	away := min(took-s.took, max(late*s.off, lateness*s.took))
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
