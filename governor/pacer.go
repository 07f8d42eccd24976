package governor

import (
	"math"
	"time"
)

const (
	// discoveryFactor multiplies the interval after each success until the first refusal. Intervals shorter than
	// gentleBelow seconds shrink more slowly, at most by gentleFactor: haste saves little there, and the limit is
	// found more exactly.
	discoveryFactor, gentleFactor, gentleBelow = 0.6, 0.9, 0.3
	// recoveryFactor multiplies the interval after each success that follows a refusal, until it is back at the
	// interval of the estimated limit. The first success already brings it close.
	recoveryFactor = 0.6
	// firstSlowdown multiplies the interval on a refusal. repeatedSlowdown does so if the previous request was
	// refused too.
	firstSlowdown, repeatedSlowdown = 1.5, 2
	// maxJitter bounds, in seconds, the random extra distance that keeps independent flows from synchronizing. It
	// never exceeds the interval.
	maxJitter = 0.15
	// flowWeight is the weight of the newest gap in the mean gap between requests. If the mean gap exceeds the
	// interval by the factor flowSlack, something other than the pace holds the flow back, and its successes
	// prove nothing about a faster pace.
	flowWeight, flowSlack = 0.25, 2.5
	// flowTolerance is the factor by which the mean gap may misrepresent the rate in use.
	flowTolerance = 1.15
	// shortestInterval is one microsecond. It keeps rates finite.
	shortestInterval = 1e-6
)

// pacer decides when requests may be sent. It is a GCRA limiter (a leaky bucket without a queue) with an interval
// that it learns from the responses.
//
// admitDelay returns how long the next request must wait. admit records that it is sent. observe processes the
// response: a success may shorten the interval, a refusal lengthens it, delays the next request and updates the
// limit estimate.
//
// Instants are durations since the governor's first call; spans of time are seconds. A pacer is not safe for
// concurrent use: the governor holds its lock.
type pacer struct {
	off              bool    // pacing is off: nothing waits and nothing is learned
	ceiling, longest float64 // shortest interval (the owner's rate ceiling) and longest
	maxCatchUp       float64 // Config.Burst
	random           randomSequence

	interval float64 // current interval between requests, the control variable
	hasBegun bool
	slot     time.Duration // scheduled time of the last admitted request
	last     time.Duration // actual time of the last admitted request
	jitter   time.Duration // random minimum distance to the next request
	hold     time.Duration // no request is sent before this instant
	inFlight int
	lanes    laneController
	meanGap  float64 // mean gap between requests
	quota    quotaGate

	limits      limitEstimator // estimated limit and the climb towards it
	epoch       refusalEpoch   // responses since the last refusal
	spare       spareCredit    // requests that a rested provider accepts at once
	gaps        requestSpacing // detects a minimum distance between requests
	cuts        int            // broken connections in a row
	sinceCut    float64        // epoch.n at the last broken connection; zero if none
	cutRate     float64        // highest rate at which connections broke
	lasted      float64        // active seconds of the last epoch
	cycle       float64        // lasted plus the pause after it
	repaying    bool           // hold waits for the rate to refill spent spare credit
	pauses      pauseSearch
	refusals    int           // refusals in a row
	lastRefusal time.Duration // time of the last refusal
	streakBegan time.Duration // time of the first refusal in the row
	lastBackoff Backoff
	everSlowed  bool
	answered    bool
	peerRefusal time.Duration // when this run learned of a refusal that another run met
	turns       *turnSchedule // nil if this run never shared its quota
}

func newPacer(c Config) pacer {
	p := pacer{
		off:        c.Discovery <= 0,
		ceiling:    inSeconds(max(0, c.Ceiling)),
		longest:    inSeconds(c.Longest),
		maxCatchUp: inSeconds(c.Burst),
		random:     randomSequence(c.Seed),
		lanes:      laneController{most: max(0, c.Lanes), open: 1},
	}
	if p.longest <= 0 {
		p.longest = math.MaxInt64 / 4e9
	}
	p.longest = max(p.longest, p.ceiling, shortestInterval)
	p.limits.margin = firstMargin
	p.setInterval(inSeconds(c.Discovery))
	if l := c.Learned; l != nil && l.Interval > 0 {
		p.setInterval(inSeconds(l.Interval))
		p.limits, p.pauses = l.restore()
		p.spare.depth, p.gaps.known = validNumber(l.Depth, maxLearnedNumber), l.Spaced
	}
	return p
}

// creditIdleTime refills the spare credit for the time in which the provider received no requests before the run.
func (p *pacer) creditIdleTime(idle time.Duration) {
	if p.limits.limit > 0 && idle > 0 {
		p.spare.refill(p.limits.limit, inSeconds(idle))
	}
}

// admitDelay returns how long the next request must wait. Zero means that it may be sent now.
func (p *pacer) admitDelay(at time.Duration) time.Duration {
	if p.off {
		return 0
	}
	p.begin(at)
	if p.turns != nil {
		p.enterTurn(at)
	}
	due := max(p.slot, at-p.catchUpCredit()) + toDuration(p.interval)
	switch {
	case p.spare.left >= 1 && p.meanGap > 0:
		due = at
	case p.spare.isAhead(at, p.limits.limit) && p.refusalIsCostly():
		due = max(due, p.spare.refilledAt(p.limits.limit))
	}
	if (p.gaps.known || p.gaps.trial) && p.refusals == 0 { // after a refusal only the hold counts
		due = max(due, p.last+toDuration(p.interval+p.gaps.transitDelay(p.last, at)))
	}
	due = max(due, p.last+toDuration(p.ceiling), p.last+p.jitter, p.hold)
	wait := max(0, due-at, p.quota.delay(at, p.inFlight))
	if p.turns != nil {
		return p.delayToTurn(at, wait)
	}
	return wait
}

// refusalIsCostly reports whether a refusal would cost more requests than the spare credit can save. If so, each
// request sent early counts in full, and the rate must refill it before the next one.
func (p *pacer) refusalIsCostly() bool {
	return p.limits.cost*p.limits.limit > p.spare.capacity(p.limits.limit)
}

// begin starts the wait before the first request.
func (p *pacer) begin(at time.Duration) {
	if !p.hasBegun {
		p.hasBegun = true
		p.slot, p.last, p.epoch.began = at, at-toDuration(p.interval), at
	}
}

// quietTime returns how long a refusal or an exhausted quota still delays requests, and whether the provider set
// that time.
func (p *pacer) quietTime(at time.Duration) (left time.Duration, byProvider bool) {
	left, byProvider = max(0, p.hold-at), p.lastBackoff.HasRetryAfter
	if p.off {
		left = 0
	}
	if spent := p.quota.until - at; p.quota.known && !p.quota.probing && p.quota.remaining <= 0 && spent > left {
		return spent, true
	}
	return left, byProvider
}

// catchUpCredit returns how much unused time still counts. A delayed flow may catch up by one request, unless the
// provider has not yet shown that it tolerates two requests in quick succession.
func (p *pacer) catchUpCredit() time.Duration {
	if p.gaps.known || p.limits.isStrict() {
		return toDuration(p.interval)
	}
	most := 2*p.interval - p.ceiling
	if p.maxCatchUp > 0 {
		most = min(most, max(p.interval, p.maxCatchUp))
	}
	return toDuration(most)
}

// admit records that a request is sent now.
func (p *pacer) admit(at time.Duration) {
	p.inFlight++
	if p.off {
		return
	}
	p.quota.admit(at)
	if unused := at - p.catchUpCredit() - p.slot; unused > 0 {
		// Unused time refills the provider's burst. Time beyond that carries no information about the limit, so
		// it counts as idle.
		p.epoch.idle += max(0, inSeconds(unused)-p.limits.burst*p.interval)
		p.slot += unused
	}
	if ahead := inSeconds(p.slot-at)/p.interval + 1; p.meanGap > 0 && ahead > 0 && p.spare.left >= 1 {
		if p.refusalIsCostly() {
			ahead = 1
		}
		p.spare.spend(at, p.limits.limit, ahead)
	} else if p.spare.spent > 0 {
		p.spare.spent++
	}
	p.slot = min(at, p.slot+toDuration(p.interval))
	gap := min(max(0, inSeconds(at-p.last)), 4*max(p.interval, p.meanGap))
	if p.meanGap == 0 {
		gap, p.meanGap = p.interval, p.interval
	}
	p.meanGap += (gap - p.meanGap) * flowWeight
	p.gaps.recordSend(at, p.last)
	p.last = at
	p.jitter = toDuration(min(maxJitter, p.interval) * p.random.float())
}

// withdraw undoes an admission. The request was never sent, so no response will arrive.
func (p *pacer) withdraw() {
	p.land()
	p.gaps.unanswered = false
}

// land removes one request from those in flight.
func (p *pacer) land() { p.inFlight = max(0, p.inFlight-1) }

// isEcho reports whether a refusal belongs to a request that was sent before the last refusal was known. With
// several requests in flight, it repeats the same refusal and carries no new information.
func (p *pacer) isEcho(sent time.Duration, o *Outcome) bool {
	return !p.off && p.isStale(sent) && (o.Kind == Throttled || o.Kind == Failed && o.Cut)
}

// isStale reports whether a request was sent before the last refusal was known.
func (p *pacer) isStale(sent time.Duration) bool {
	return p.everSlowed && sent < max(p.lastRefusal, p.peerRefusal)
}

// observe processes the outcome of a request.
func (p *pacer) observe(at, sent time.Duration, o *Outcome) {
	if p.lanes.most > 1 && !p.off {
		p.adjustLanes(at, sent, o)
	}
	p.land()
	if p.off {
		return
	}
	p.answered = true
	p.gaps.recordReply(sent)
	p.quota.observe(at, sent, o.Quota)
	stale := p.isStale(sent)
	switch {
	case o.Kind == Throttled && stale:
		if o.HasRetryAfter {
			p.hold = max(p.hold, instantAfter(at, o.RetryAfter))
		}
	case o.Kind == Throttled:
		p.refuse(at, sent, o, true)
	case stale:
	case o.Kind == Failed && o.Cut:
		p.observeCut(at, sent, o)
	case o.Kind == Success:
		p.cuts = 0
		p.gaps.recordSuccess(at, sent, p.interval)
		p.succeed(sent)
	case o.Kind == Rejected:
		p.epoch.add(sent) // a rejected request used the quota too
	}
	if p.turns != nil {
		p.recordChange(at)
	}
}

// succeed processes a success. It ends a row of refusals and may shorten the interval.
func (p *pacer) succeed(sent time.Duration) {
	if p.refusals > 0 {
		// A request that is sent later than the hold requires was delayed by something else.
		quiet := min(sent, p.hold+toDuration(p.interval))
		p.epoch.paused += inSeconds(quiet - p.streakBegan)
		if !p.repaying {
			p.limits.recordCost(p.pauses.recordSuccess(inSeconds(quiet-p.lastRefusal), p.refusals))
		}
		p.refusals, p.repaying = 0, false
		p.cycle = p.lasted + inSeconds(quiet-p.streakBegan)
	}
	p.countAnswer(sent)
	held := p.interval*flowSlack < p.meanGap
	if p.limits.limit == 0 { // the mean lags behind an interval that shrinks this fast
		held = held && p.interval*flowSlack < p.gaps.gap
	}
	p.shortenInterval(held)
}

// countAnswer adds a response to the epoch. Enough of them end the trial of request spacing.
func (p *pacer) countAnswer(sent time.Duration) {
	if p.epoch.add(sent); p.gaps.trial && p.epoch.n >= spacingTrials {
		p.gaps.trial, p.gaps.known = false, true
	}
}

// shortenInterval adapts the interval after one more success. If held is true, something other than the pace
// limits the flow and the interval stays.
func (p *pacer) shortenInterval(held bool) {
	if p.limits.limit > 0 {
		if resume := p.limits.resumeInterval(); p.interval > resume {
			p.setInterval(max(resume, min(p.interval*recoveryFactor, 4*resume)))
			return
		}
	}
	switch {
	case held, p.gaps.trial, p.spare.left >= 1, p.limits.limit == 0 && p.interval <= p.ceiling:
	case p.limits.limit == 0:
		p.setInterval(p.interval * min(gentleFactor, max(discoveryFactor, math.Exp(-p.interval/gentleBelow))))
	default:
		p.setInterval(min(p.interval, p.limits.climb(p.interval)))
	}
}

// rateInUse returns the rate at which requests are actually sent.
func (p *pacer) rateInUse() float64 {
	rate := 1 / p.interval
	if p.meanGap > 0 {
		rate = min(rate, flowTolerance/p.meanGap)
	}
	return rate
}

// refusalCause is what the pacer concludes from a refusal.
type refusalCause int

const (
	causeRate        refusalCause = iota // the rate, or the number of requests in a window, was too high
	causeSpacing                         // the request followed the previous one too closely
	causeSpareCredit                     // the assumed spare credit did not exist
	causeUnclear                         // the cause may be unrelated to the pace
)

// refuse lengthens the interval and delays the next request. The limit estimate changes only if sure is true,
// that is if the refusal certainly comes from a limit.
func (p *pacer) refuse(at, sent time.Duration, o *Outcome, sure bool) {
	rate := p.rateInUse()
	if p.refusals++; p.refusals == 1 {
		p.streakBegan = at
		p.lasted = p.epoch.active(at)
		p.pauses.recordFlow(p.epoch.n, p.epoch.active(at))
	}
	cause := p.learnFromRefusal(at, sent, rate, o, sure)
	was := p.interval
	slower := was * firstSlowdown
	if p.refusals > 1 {
		slower = was * repeatedSlowdown
	}
	if p.limits.limit > 0 {
		slower = max(slower, p.limits.resumeInterval())
	}
	p.interval = max(was, min(slower, p.longest))
	p.lastRefusal, p.everSlowed = at, true
	p.lastBackoff = Backoff{Interval: toDuration(p.interval), HasRetryAfter: retryAfterSeconds(o) > 0}
	switch {
	case retryAfterSeconds(o) > 0:
		p.hold = max(p.hold, instantAfter(at, o.RetryAfter))
	case cause == causeSpacing:
		p.hold = max(p.hold, at+toDuration(spacingPause*p.limits.resumeInterval()))
	case cause == causeSpareCredit:
		p.hold = max(p.hold, min(p.spare.refilledAt(p.limits.limit), at+toDuration(longestPause)), at+toDuration(1/rate))
	default: // a Retry-After of zero still needs a pause
		p.hold = max(p.hold, at+toDuration(p.pauses.nextPause(p.refusals, 1/rate)))
		if p.limits.window && p.refusals == 1 {
			p.hold = max(p.hold, at+toDuration(min(p.cycle-p.lasted, longestPause)))
		}
	}
	p.repaying = cause == causeSpareCredit
	p.spare.left, p.spare.spent = 0, 0
	p.slot = p.hold - toDuration(p.interval) // the hold replaces the interval; it is not added to it
}

// retryAfterSeconds returns the Retry-After of an outcome in seconds. It returns zero if there is none.
func retryAfterSeconds(o *Outcome) float64 {
	if !o.HasRetryAfter {
		return 0
	}
	return inSeconds(max(0, o.RetryAfter))
}

// learnFromRefusal updates the estimates after a refusal and starts a new epoch. A refusal in an empty epoch
// teaches nothing. It returns the assumed cause.
func (p *pacer) learnFromRefusal(at, sent time.Duration, rate float64, o *Outcome, sure bool) refusalCause {
	cause := causeRate
	switch {
	case p.refusals == 1 && p.limits.limit > 0 && p.spare.isAhead(at, p.limits.limit):
		cause = causeSpareCredit
		p.spare.recordRefusal(p.limits.limit)
	case !sure:
		cause = causeUnclear
		p.limits.count = p.epoch.n // if it is a window after all, the next epoch has the same count
	case (p.refusals == 1 || p.gaps.trial) && p.limits.learnSpacing(&p.gaps, &p.epoch, sent, rate):
		cause = causeSpacing
	case p.epoch.n > 0:
		if p.limits.limit == 0 {
			p.spare.recordOpening(&p.epoch, inSeconds(at-p.epoch.began))
		}
		if p.cutRate > 0 { // broken connections cost too much to accept random ones
			p.limits.random = randomRefusals{}
		}
		p.limits.learn(&p.epoch, at, rate, retryAfterSeconds(o))
	default:
		return cause
	}
	p.epoch = refusalEpoch{began: at}
	return cause
}

func (p *pacer) setInterval(interval float64) {
	p.interval = min(max(interval, p.ceiling, shortestInterval), p.longest)
}

func (p *pacer) rate() (Rate, bool) {
	if p.off {
		return Rate{}, false
	}
	r := Rate{Interval: toDuration(p.interval), Ceiling: toDuration(p.ceiling)}
	if p.everSlowed {
		slowed := p.lastBackoff
		r.Backoff = &slowed
	}
	return r, true
}

func (p *pacer) snapshot() (Learned, bool) {
	if p.off || !p.answered {
		return Learned{}, false
	}
	l := Learned{Interval: toDuration(p.interval)}
	l.store(p.limits, p.pauses)
	if l.Limit == 0 {
		return l, true
	}
	if p.epoch.n >= reliableCount { // a rate that worked for this long is not above the limit
		l.Limit = max(l.Limit, min(p.epoch.n/max(p.interval, p.epoch.active(p.last)), l.Refused))
	}
	l.Interval = toDuration(min(max(p.ceiling, 1/(l.Limit*(1-l.Margin))), p.longest))
	l.Depth, l.Spaced = p.spare.capacity(l.Limit), p.gaps.known
	return l, true
}
