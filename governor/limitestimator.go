package governor

import (
	"math"
	"time"
)

const (
	// A climb raises the rate from just below the limit to the refused rate. It takes between shortestClimb and
	// longestClimb successes, and climbFactor times as many as passed before the last refusal. So an unknown
	// limit is found quickly, and a known limit is rarely exceeded.
	shortestClimb, longestClimb, climbFactor = 60, 6000, 2.6
	// keepConfirmed and keepSurprised are the parts of a climb's length that remain after a refusal that confirms
	// the limit, and after one that contradicts it.
	keepConfirmed, keepSurprised = 0.7, 0.3
	// A refusal that costs c requests happens at most once per costSpacing*c requests, up to longestCostly. A
	// climb wider than searchWidth is still searching for the limit and is faster.
	costSpacing, longestCostly, searchWidth = 35, 12000, 0.1
	// After a climb without a refusal the limit has risen, and each success raises the rate by growthStep. A slow
	// pace may come from refusals with another cause, and its successes are rare. It therefore grows by a factor
	// of e in growthSeconds, by at most maxGrowthStep per success.
	growthStep, growthSeconds, maxGrowthStep = 0.004, 400, 0.25
	// maxClimbSeconds is the longest duration of a climb. Below crawlRate requests per second it shrinks in
	// proportion.
	maxClimbSeconds, crawlRate = 7200, 0.25

	// A limit below fallenShare of the highest limit of this run may be temporary. Then fallenClimbFactor
	// replaces climbFactor.
	fallenShare, fallenClimbFactor = 0.7, 1

	// A climb starts this share below the limit. The margin widens when refusals come early and narrows when they
	// are rare.
	firstMargin, narrowestMargin, widestMargin = 0.005, 0.002, 0.09
	widenMargin, narrowMargin                  = 1.5, 0.6
	earlyCount, lateCount                      = 150, 800
	earlyFactor                                = 1.01 // a refusal at this multiple of the limit or less is early

	// reliableCount answers make a rate measurable. Fewer than fewAnswers only show a direction.
	reliableCount, fewAnswers = 100, 8
	// guessedRefill is how many requests the provider may have refilled during a pause that was longer than
	// necessary.
	guessedRefill = 10
	// inferredBurst is the part of the excess that counts as the provider's burst.
	inferredBurst = 0.5
	// burstGrowth multiplies the burst if the limit turned out lower than the burst implied.
	burstGrowth = 1.3
	// Two epochs with the same count of at least windowCount answers are no coincidence: they show a window. The
	// rate is then searched up to windowSearch times the rate of that window. Once an epoch has passed
	// windowPassed windows, its last one shows the rate, reduced by windowSafety.
	windowCount, windowSearch, windowPassed, windowSafety = 20, 3, 1.2, 0.95
	// A count that is a multiple of roundNumber, followed by a Retry-After longer than these requests took, also
	// shows a window. It is filled to announcedFill and searched up to announcedSearch times that. A quota for
	// more than maxAnnounced seconds is better spent at once.
	roundNumber, announcedFill, announcedSearch, maxAnnounced = 10, 0.97, 1.1, 60
	// Each short epoch multiplies the confidence in a long stretch by stretchDecay. A stretch supports at most
	// stretchShare of the limit, and only if it contains a pause of longPause requests.
	stretchDecay, stretchShare, longPause = 0.9, 0.95, 20
	// sharpBurst is the smallest burst that safely lets two requests pass in a row.
	sharpBurst = 3
)

// limitEstimator estimates the provider's limit from the refusals. It expresses the limit as the rate that was
// delivered between two refusals.
type limitEstimator struct {
	limit       float64 // requests per second; zero before the first refusal
	refused     float64 // rate at the last refusal
	margin      float64
	caution     float64 // additional margin of the climb after a warm start
	burst       float64 // largest burst consistent with the limit; zero if unknown
	cost        float64 // pause in seconds that a refusal costs
	briefPauses bool    // a short pause is known to be enough
	climbLength float64 // successes that a climb takes
	climbed     float64 // successes of the current climb
	count       float64 // answers of the last epoch
	window      bool    // the last two epochs had equal counts: the limit is a number per window
	size        float64 // requests per window; zero if no window was seen
	past        deliveryStretch
	random      randomRefusals
	highest     float64 // highest limit that a long flow confirmed
}

// deliveryStretch measures what was delivered over several epochs, including the pauses between them. If a quota
// lasts for hours, the few requests that pass after a pause carry no information, but the whole stretch does.
type deliveryStretch struct {
	n, seconds float64
	quiet      float64 // longest pause in seconds
	sure       float64 // confidence; falls with every short epoch
}

// add appends an epoch. A long epoch starts a new stretch.
func (s *deliveryStretch) add(n, active, quiet float64) {
	if n >= fewAnswers {
		*s = deliveryStretch{sure: 1}
	} else {
		s.sure *= stretchDecay
	}
	s.n += n
	s.seconds += active + quiet
	s.quiet = max(s.quiet, quiet)
}

// rate returns a lower bound of the limit. It returns zero unless the stretch contains a long pause, after which
// a token bucket would have delivered more.
func (s *deliveryStretch) rate(limit float64) float64 {
	if s.quiet*limit < longPause {
		return 0
	}
	return s.sure * s.n / s.seconds
}

// resumeInterval returns the interval to return to after a refusal.
func (m *limitEstimator) resumeInterval() float64 { return 1 / m.climbStart() }

// climbStart returns the rate at which a climb begins.
func (m *limitEstimator) climbStart() float64 { return m.limit * (1 - m.margin) * (1 - m.caution) }

// isStrict reports whether the limit has shown no room for a burst.
func (m *limitEstimator) isStrict() bool { return m.limit > 0 && m.burst < sharpBurst }

// climb returns the interval after one more success.
func (m *limitEstimator) climb(interval float64) float64 {
	m.climbed++
	if m.climbed <= m.climbLength {
		return 1 / (m.climbStart() + (m.refused-m.climbStart())*m.climbed/m.climbLength)
	}
	ramp := min(1, (m.climbed-m.climbLength)/max(boundByTime(50, m.refused), 0.2*m.climbLength))
	return interval / (1 + ramp*max(growthStep, min(maxGrowthStep, interval/growthSeconds)))
}

// boundByTime limits a number of successes by the time that they take at the rate.
func boundByTime(n, rate float64) float64 { return min(n, maxClimbSeconds*rate*min(1, rate/crawlRate)) }

// recordCost stores how many seconds of pause a refusal cost. A long pause that was necessary is remembered
// longer than one that was only tried.
func (m *limitEstimator) recordCost(quiet float64, brief bool) {
	if !brief {
		quiet = max(quiet, 0.7*m.cost)
	}
	m.cost, m.briefPauses = quiet, brief
}

// tiny prevents a division by zero, in seconds.
const tiny = 1e-9

// learn updates the limit after an epoch that ended with a refusal at rate. retryAfter is the requested
// pause in seconds, or zero.
func (m *limitEstimator) learn(e *refusalEpoch, at time.Duration, rate, retryAfter float64) {
	active := max(tiny, e.active(at))
	m.window = e.n >= windowCount && e.paused > active/2 && e.n == m.count
	m.count = e.n
	if e.n >= windowCount && math.Mod(e.n, roundNumber) == 0 && retryAfter > active && retryAfter <= maxAnnounced {
		m.learnWindow(e.n, rate, retryAfter)
		return
	}
	if m.window {
		m.size = e.n
	}
	m.past.add(e.n, active, e.paused)
	if !m.window && m.briefPauses && e.paused > active/2 {
		// Most of the pause was our own guess, made before anything was known.
		e.paused = min(e.paused, guessedRefill/rate)
	}
	first := m.limit == 0
	estimate := m.averageRate(e, active, retryAfter)
	if first {
		estimate = max(estimate, rate/2)
	}
	tooEarly := !first && rate <= m.limit*earlyFactor
	if tooEarly {
		m.burst *= burstGrowth
	}
	if !first && e.n >= reliableCount && e.paused < active/2 {
		estimate = m.learnBurst(e, estimate, active)
	}
	if m.size > 0 && e.n > windowPassed*m.size {
		estimate = max(estimate, windowSafety*e.recentRate(m.size, active))
	}
	estimate = min(estimate, rate)
	confirmed := !first && estimate > 0.95*m.limit && estimate < 1.05*m.limit
	m.adjustMargin(e.n, tooEarly)
	if e.n < fewAnswers {
		estimate = m.cautiousEstimate(estimate, rate)
	}
	if m.window {
		rate = min(rate, estimate*windowSearch)
	}
	if m.random.addRefusal(rate); m.random.isRandom && !m.window {
		m.acceptRandom(rate)
		return
	}
	m.limit, m.refused, m.caution = estimate, max(rate, estimate*1.002), 0
	if confirmed && e.n >= longFlow && m.size == 0 {
		m.highest = max(m.highest, m.limit)
	}
	m.planClimb(e.n, confirmed)
}

// averageRate returns the rate of an epoch. A pause may have refilled the quota (a window) or not (a ban). It lowers
// the estimate by at most half.
func (m *limitEstimator) averageRate(e *refusalEpoch, active, retryAfter float64) float64 {
	estimate := e.n / max(tiny, active+e.paused)
	if !m.window {
		estimate = max(estimate, 0.5*e.n/active)
	}
	if retryAfter > 0 && e.n >= 1000 {
		// The provider announces its pauses and rarely refuses, so there is no reason to spread its quota.
		estimate = max(estimate, e.n/active*(1-50/e.n))
	}
	return estimate
}

// learnBurst sets the burst from a reliable epoch and returns the better estimate of the rate.
func (m *limitEstimator) learnBurst(e *refusalEpoch, estimate, active float64) float64 {
	for range 2 { // a better rate implies a smaller burst, which implies a better rate
		burst := max(1, inferredBurst*e.excess(estimate, active))
		if m.burst == 0 || burst < m.burst {
			m.burst = burst
		}
		estimate = max(estimate, e.sustained(m.burst, active))
	}
	return estimate
}

// adjustMargin widens the margin after a refusal that came too early, and narrows it after a long epoch.
func (m *limitEstimator) adjustMargin(n float64, tooEarly bool) {
	switch {
	case tooEarly && n < earlyCount:
		m.margin = min(widestMargin, m.margin*widenMargin)
	case !tooEarly && n > lateCount:
		m.margin = max(narrowestMargin, m.margin*narrowMargin)
	}
}

// cautiousEstimate returns the estimate after an epoch with few answers, which proves little.
func (m *limitEstimator) cautiousEstimate(estimate, rate float64) float64 {
	if m.limit == 0 {
		return 0.75 * min(rate, max(estimate, rate/2))
	}
	return max(m.limit/2, min(estimate, 0.85*m.limit), min(m.past.rate(m.limit), stretchShare*m.limit))
}

// learnWindow sets the limit from an epoch that looks like a window: operators choose round numbers, and the
// requested pause is the length of the window or the rest of it.
func (m *limitEstimator) learnWindow(n, rate, retryAfter float64) {
	m.window, m.size, m.burst = true, n, n
	m.limit = min(rate, announcedFill*n/retryAfter)
	m.refused = max(min(rate, announcedSearch*m.limit), m.limit*1.002)
	m.cost, m.caution = retryAfter, 0
	m.planClimb(n, true)
}

// acceptRandom treats a refusal as a random one. The rate drops by a small step and climbs again, so that random
// refusals stay as rare as their cost requires.
func (m *limitEstimator) acceptRandom(rate float64) {
	m.margin, m.caution, m.climbed = narrowestMargin, 0, 0
	m.limit = rate * (1 - randomStep)
	m.refused = m.limit * (1 + randomReach*randomStep)
	m.climbLength = boundByTime(min(randomReach*max(randomSpacing, randomCost*m.cost*rate), longestCostly), m.refused)
}

// planClimb sets the length of the next climb.
func (m *limitEstimator) planClimb(n float64, confirmed bool) {
	kept := keepSurprised * m.climbLength
	if confirmed {
		kept = keepConfirmed * m.climbLength
	}
	times := float64(climbFactor)
	if m.limit < fallenShare*m.highest {
		times = fallenClimbFactor
	}
	m.climbLength = min(max(times*n, boundByTime(max(kept, shortestClimb), m.refused)), longestClimb)
	width := (m.refused - m.climbStart()) / m.refused
	costly := costSpacing * m.cost * m.refused * min(1, searchWidth/width)
	m.climbLength = max(m.climbLength, boundByTime(min(costly, longestCostly), m.refused))
	m.climbed = 0
}

// learnSpacing sets the limit from a refusal that may concern the distance between two requests. It reports
// whether that is the cause. The first refusal starts a trial: if distances that worked before are refused now,
// distance does not matter.
func (m *limitEstimator) learnSpacing(s *requestSpacing, e *refusalEpoch, sent time.Duration, rate float64) bool {
	switch {
	case s.trial:
		s.ruleOut()
	case s.known:
		if s.addStrike(e.n, rate <= m.limit*earlyFactor); !s.known {
			m.margin = min(m.margin, widestMargin)
			return false
		}
		if s.strikes > 0 {
			m.margin = min(maxSpacingMargin, max(m.margin*2, 0.01))
		} else {
			m.limit = max(m.limit, min(rate, e.recentRate(spacingTrials, e.active(sent))))
			if e.n > lateCount {
				m.margin = max(narrowestMargin, m.margin*narrowMargin)
			}
		}
		m.refused, m.caution = max(rate, m.limit*1.002), 0
		m.cost, m.briefPauses = spacingPause/m.limit, true
		m.planClimb(e.n, true)
		return true
	case m.limit == 0 && s.isPlausible(sent):
		s.trial = true
		m.limit, m.caution = 1/(s.shortest*trialSlowdown), 0
		m.refused = max(1/s.gap, m.limit*1.002)
		m.planClimb(e.n, false)
		return true
	}
	return false
}
