package governor

import (
	"math"
	"time"
)

const (
	// A sweep climbs from below the limit to the rate that was refused over at
	// least and at most this many successes, and slower times as long as the last
	// refusal took to come. So discovery is cheap and a known limit is left alone.
	leastSweep, longestSweep, slower = 60, 6000, 2.6
	// keepConfirmed and keepSurprised are how much of a sweep's length survives a
	// refusal that confirms the limit, and one that comes as a surprise.
	keepConfirmed, keepSurprised = 0.7, 0.3
	// A refusal that costs c requests is met at most every costSpacing x c of
	// them, up to longestCostly. A wide sweep is still searching and goes faster.
	costSpacing, longestCostly, searchWidth = 35, 12000, 0.1
	// beyond is by how much the rate grows per success once a sweep ended without
	// a refusal: the limit has risen. A slow pace may come from refusals of another
	// cause, and its successes are rare: it grows by a factor of e in riseTime
	// seconds, at most by steepest per success.
	beyond, riseTime, steepest = 0.004, 400, 0.25
	// longestClimb is the most seconds that a sweep is stretched to; below crawl
	// requests per second it is less, in proportion.
	longestClimb, crawl = 7200, 0.25

	// fallen is the part of the largest limit of the run below which another one may be for a
	// while only, and returning what slower is then.
	fallen, returning = 0.7, 1

	// margin is how far below the limit a sweep starts. It widens when refusals
	// come early and narrows when they stay away.
	firstMargin, leastMargin, mostMargin = 0.005, 0.002, 0.09
	widen, narrow                        = 1.5, 0.6
	earlyAfter, lateAfter                = 150, 800
	early                                = 1.01 // a refusal at this multiple of the limit or less

	// trusted is how many answers make a rate measurable; few is so little that it
	// only tells the direction.
	trusted, few = 100, 8
	// guessedRefill is how many requests the provider may make good during a quiet
	// that turned out longer than it needed.
	guessedRefill = 10
	// inferredBurst is the part of the excess that counts as the provider's burst.
	inferredBurst = 0.5
	// misjudged grows the burst when the limit turned out lower than it implied.
	misjudged = 1.3
	// countable is how many answers make it no accident that two epochs have as many. A
	// window so found is searched up to windowSearch times its rate, and once an epoch
	// has passed windowPassed windows, its last one shows the rate but for windowSure.
	countable, windowSearch, windowPassed, windowSure = 20, 3, 1.2, 0.95
	// A number of answers that is a multiple of round, and after them a quiet that is told and
	// longer than they took, are a window. It is filled to toldSure, and searched up to
	// toldSearch times that. What is given for more than toldMost seconds is better spent at once.
	round, toldSure, toldSearch, toldMost = 10, 0.97, 1.1, 60
	// doubt is what each epoch of few requests leaves of what a stretch shows, unsure
	// the most of the limit that it keeps; longQuiet is the quiet in requests without
	// which it shows nothing.
	doubt, unsure, longQuiet = 0.9, 0.95, 20
	// sharpBurst is the least burst that lets two requests in a row pass safely.
	sharpBurst = 3
)

// memory is what the refusals taught: the limit as a delivered rate.
type memory struct {
	limit   float64 // requests per second; zero before the first refusal
	refused float64 // rate that was refused last
	margin  float64
	caution float64 // a further margin of the climb that follows a warm start
	burst   float64 // largest burst that the limit shows; zero while unknown
	cost    float64 // seconds of quiet that a refusal costs
	brief   bool    // a short quiet is known to do
	sweep   float64 // successes that a climb takes
	climbed float64 // successes of the climb under way
	count   float64 // answers of the last epoch
	window  bool    // it was as many as in the epoch before: a window gives a number, not a rate
	size    float64 // of the window; zero while none was seen
	past    stretch
	scatter scatter
	high    float64 // largest limit that a long flow confirmed
}

// stretch is what was delivered over several epochs, with the quiet between them. Where
// an allowance is given for a long time, the few requests that pass after a quiet say
// nothing of it, and the stretch does.
type stretch struct {
	n, seconds float64
	quiet      float64 // longest in it
	sure       float64 // less with every epoch of few requests
}

// add takes an epoch in.
func (s *stretch) add(n, active, quiet float64) {
	if n >= few {
		*s = stretch{sure: 1}
	} else {
		s.sure *= doubt
	}
	s.n += n
	s.seconds += active + quiet
	s.quiet = max(s.quiet, quiet)
}

// rate is what the stretch shows that the limit is at least. It shows nothing unless a
// long quiet is in it: after that a bucket would have given more.
func (s *stretch) rate(limit float64) float64 {
	if s.quiet*limit < longQuiet {
		return 0
	}
	return s.sure * s.n / s.seconds
}

// resume is the interval to come back to after a refusal.
func (m *memory) resume() float64 { return 1 / m.from() }

// from is the rate at which a climb begins.
func (m *memory) from() float64 { return m.limit * (1 - m.margin) * (1 - m.caution) }

// strict reports a limit that has shown no room for a burst.
func (m *memory) strict() bool { return m.limit > 0 && m.burst < sharpBurst }

// climb is the interval after one more success.
func (m *memory) climb(interval float64) float64 {
	m.climbed++
	if m.climbed <= m.sweep {
		return 1 / (m.from() + (m.refused-m.from())*m.climbed/m.sweep)
	}
	ramp := min(1, (m.climbed-m.sweep)/max(timely(50, m.refused), 0.2*m.sweep))
	return interval / (1 + ramp*max(beyond, min(steepest, interval/riseTime)))
}

// timely bounds a number of successes at a rate by the time that they take.
func timely(n, rate float64) float64 { return min(n, longestClimb*rate*min(1, rate/crawl)) }

// paid remembers what a refusal cost. A long quiet that is known to be needed is
// remembered for longer than one that was only tried.
func (m *memory) paid(quiet float64, brief bool) {
	if !brief {
		quiet = max(quiet, 0.7*m.cost)
	}
	m.cost, m.brief = quiet, brief
}

// learn takes the limit from an epoch that ended with a refusal at the rate, which asked for
// so many seconds of quiet.
func (m *memory) learn(e *epoch, at time.Duration, rate, told float64) {
	const tiny = 1e-9
	active := max(tiny, e.active(at))
	m.window = e.n >= countable && e.paused > active/2 && e.n == m.count
	m.count = e.n
	if e.n >= countable && math.Mod(e.n, round) == 0 && told > active && told <= toldMost {
		m.tell(e.n, rate, told)
		return
	}
	if m.window {
		m.size = e.n
	}
	m.past.add(e.n, active, e.paused)
	if !m.window && m.brief && e.paused > active/2 {
		// Most of the quiet was a guess of ours, made before anything was known.
		e.paused = min(e.paused, guessedRefill/rate)
	}
	// A pause may have refilled the allowance, as a window does, or not at all, as
	// a ban does. It lowers the estimate by half at most.
	estimate := max(e.n/max(tiny, active+e.paused), 0.5*e.n/active)
	if m.window {
		estimate = e.n / max(tiny, active+e.paused)
	}
	if told > 0 && e.n >= 1000 {
		// The provider says how long to wait and refuses rarely: nothing is gained
		// by spreading what it gives at once.
		estimate = max(estimate, e.n/active*(1-50/e.n))
	}
	first := m.limit == 0
	if first {
		estimate = max(estimate, rate/2)
	}
	tooEarly := !first && rate <= m.limit*early
	if tooEarly {
		m.burst *= misjudged
	}
	if !first && e.n >= trusted && e.paused < active/2 {
		for range 2 { // a better rate shows a smaller burst, which shows a better rate
			burst := max(1, inferredBurst*e.excess(estimate, active))
			if m.burst == 0 || burst < m.burst {
				m.burst = burst
			}
			estimate = max(estimate, e.sustained(m.burst, active))
		}
	}
	if m.size > 0 && e.n > windowPassed*m.size {
		estimate = max(estimate, windowSure*e.last(m.size, active))
	}
	estimate = min(estimate, rate)
	confirmed := !first && estimate > 0.95*m.limit && estimate < 1.05*m.limit
	switch {
	case tooEarly && e.n < earlyAfter:
		m.margin = min(mostMargin, m.margin*widen)
	case !tooEarly && e.n > lateAfter:
		m.margin = max(leastMargin, m.margin*narrow)
	}
	switch {
	case e.n >= few:
	case first:
		estimate = 0.75 * min(rate, max(estimate, rate/2))
	default:
		estimate = max(m.limit/2, min(estimate, 0.85*m.limit), min(m.past.rate(m.limit), unsure*m.limit))
	}
	if m.window {
		rate = min(rate, estimate*windowSearch)
	}
	if m.scatter.refused(rate); m.scatter.chance && !m.window {
		m.chance(rate)
		return
	}
	m.limit, m.refused, m.caution = estimate, max(rate, estimate*1.002), 0
	if confirmed && e.n >= longFlow && m.size == 0 {
		m.high = max(m.high, m.limit)
	}
	m.plan(e.n, confirmed)
}

// tell takes the limit from an epoch that looks like a window: people set round numbers, and
// the quiet that is asked for is as long as the window or what is left of it.
func (m *memory) tell(n, rate, told float64) {
	m.window, m.size, m.burst = true, n, n
	m.limit = min(rate, toldSure*n/told)
	m.refused = max(min(rate, toldSearch*m.limit), m.limit*1.002)
	m.cost, m.caution = told, 0
	m.plan(n, true)
}

// chance takes a refusal for one of those that come by chance: the pace steps down a little
// and climbs again, so that they come as seldom as they cost little.
func (m *memory) chance(rate float64) {
	m.margin, m.caution, m.climbed = leastMargin, 0, 0
	m.limit = rate * (1 - chanceStep)
	m.refused = m.limit * (1 + chanceReach*chanceStep)
	m.sweep = timely(min(chanceReach*max(chanceSpacing, chanceCost*m.cost*rate), longestCostly), m.refused)
}

// plan sets how slowly the next climb goes.
func (m *memory) plan(n float64, confirmed bool) {
	kept := keepSurprised * m.sweep
	if confirmed {
		kept = keepConfirmed * m.sweep
	}
	times := float64(slower)
	if m.limit < fallen*m.high {
		times = returning
	}
	m.sweep = min(max(times*n, timely(max(kept, leastSweep), m.refused)), longestSweep)
	width := (m.refused - m.from()) / m.refused
	costly := costSpacing * m.cost * m.refused * min(1, searchWidth/width)
	m.sweep = max(m.sweep, timely(min(costly, longestCostly), m.refused))
	m.climbed = 0
}

// spaced takes the limit from a refusal that may be about the distance between two
// requests, and reports whether it is taken so. The first refusal of all is put to a
// trial: a distance that had passed before passes again, or it is no distance that counts.
func (m *memory) spaced(s *spacing, e *epoch, sent time.Duration, rate float64) bool {
	switch {
	case s.trial:
		s.reject()
	case s.known:
		if s.strike(e.n, rate <= m.limit*early); !s.known {
			m.margin = min(m.margin, mostMargin)
			return false
		}
		if s.strikes > 0 {
			m.margin = min(mostSpaced, max(m.margin*2, 0.01))
		} else {
			m.limit = max(m.limit, min(rate, e.last(tried, e.active(sent))))
			if e.n > lateAfter {
				m.margin = max(leastMargin, m.margin*narrow)
			}
		}
		m.refused, m.caution = max(rate, m.limit*1.002), 0
		m.cost, m.brief = spacedHold/m.limit, true
		m.plan(e.n, true)
		return true
	case m.limit == 0 && s.plausible(sent):
		s.trial = true
		m.limit, m.caution = 1/(s.least*easedBy), 0
		m.refused = max(1/s.gap, m.limit*1.002)
		m.plan(e.n, false)
		return true
	}
	return false
}
