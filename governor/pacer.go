package governor

import (
	"math"
	"time"
)

const (
	// accelerate multiplies the interval per success until the first refusal.
	accelerate = 0.9
	// recoverStep multiplies the interval per success after a refusal, until it is
	// back at what the memory allows. The first success brings it near at once.
	recoverStep = 0.6
	// leastSlowdown and repeatedSlowdown multiply the interval on a refusal, and
	// on one that follows another without a success between them.
	leastSlowdown, repeatedSlowdown = 1.5, 2
	// maxJitter bounds the random spacing that keeps flows from moving in step. It
	// never exceeds the interval, so it is no floor of its own.
	maxJitter = 0.15
	// flowShare weighs the newest gap in the mean gap between requests. A flow
	// this much slower than the interval is held up by something else, so its
	// successes prove nothing about a faster pace.
	flowShare, flowSlack = 0.25, 2.5
	// flowTrust is by how much the mean gap may mislead about the pace in use.
	flowTrust = 1.15
	// leastInterval is a microsecond: below it there is no pace to speak of, and
	// rates stay finite.
	leastInterval = 1e-6
)

// pacer is GCRA with a learned interval. Times are since the governor's first
// question, spans are seconds.
type pacer struct {
	off              bool
	ceiling, longest float64
	makeUp           float64 // Config.Burst
	random           sequence

	interval float64
	begun    bool
	slot     time.Duration // theoretical time of the last admitted request
	last     time.Duration // when it really left
	spacing  time.Duration // random least distance to the next one
	hold     time.Duration // nothing leaves before this
	inFlight int
	flow     float64 // mean gap between requests
	quota    quotaGate

	memory      memory
	epoch       epoch
	cool        cooldown
	refusals    int           // in a row
	refused     time.Duration // the last one
	streakBegan time.Duration // the first one in the row
	slowed      Backoff
	everSlowed  bool
	answered    bool
}

func newPacer(c Config) pacer {
	p := pacer{
		off: c.Discovery <= 0, ceiling: seconds(max(0, c.Ceiling)), longest: seconds(c.Longest), makeUp: seconds(c.Burst),
		random: sequence(c.Seed),
	}
	if p.longest <= 0 {
		p.longest = math.MaxInt64 / 4e9
	}
	p.longest = max(p.longest, p.ceiling, leastInterval)
	p.memory.margin = firstMargin
	p.set(seconds(c.Discovery))
	if l := c.Learned; l != nil && l.Interval > 0 {
		p.set(seconds(l.Interval))
		p.memory, p.cool = l.restore()
	}
	return p
}

// wait tells how long from now on the next request would be too early.
func (p *pacer) wait(at time.Duration) time.Duration {
	if p.off {
		return 0
	}
	p.begin(at)
	due := max(p.slot, at-p.credit()) + span(p.interval)
	due = max(due, p.last+span(p.ceiling), p.last+p.spacing, p.hold)
	return max(0, due-at, p.quota.wait(at, p.inFlight))
}

// begin starts the wait for the first request.
func (p *pacer) begin(at time.Duration) {
	if !p.begun {
		p.begun = true
		p.slot, p.last, p.epoch.began = at, at-span(p.interval), at
	}
}

// quiet is how long a refusal or a spent allowance still holds requests back.
func (p *pacer) quiet(at time.Duration) (left time.Duration, byProvider bool) {
	left, byProvider = max(0, p.hold-at), p.slowed.HasRetryAfter
	if p.off {
		left = 0
	}
	if spent := p.quota.until - at; p.quota.known && !p.quota.probing && p.quota.remaining <= 0 && spent > left {
		return spent, true
	}
	return left, byProvider
}

// credit is how far back unused time still counts. It lets a flow that was held
// up catch up with its pace by one request, unless a provider that refuses has
// not shown patience for two in a row.
func (p *pacer) credit() time.Duration {
	if p.memory.strict() {
		return span(p.interval)
	}
	most := 2*p.interval - p.ceiling
	if p.makeUp > 0 {
		most = min(most, max(p.interval, p.makeUp))
	}
	return span(most)
}

// admit records that a request leaves now.
func (p *pacer) admit(at time.Duration) {
	p.inFlight++
	if p.off {
		return
	}
	p.quota.admit(at)
	if unused := at - p.credit() - p.slot; unused > 0 {
		// Beyond what refills the provider's burst, time of ours that went unused
		// says nothing about the limit.
		p.epoch.idle += max(0, seconds(unused)-p.memory.burst*p.interval)
		p.slot += unused
	}
	p.slot = min(at, p.slot+span(p.interval))
	gap := min(max(0, seconds(at-p.last)), 4*max(p.interval, p.flow))
	if p.flow == 0 {
		gap, p.flow = p.interval, p.interval
	}
	p.flow += (gap - p.flow) * flowShare
	p.last = at
	p.spacing = span(min(maxJitter, p.interval) * p.random.float())
}

// withdraw forgets a request that never left.
func (p *pacer) withdraw() { p.inFlight = max(0, p.inFlight-1) }

// observe learns from an answer.
func (p *pacer) observe(at, sent time.Duration, o Outcome) {
	p.withdraw()
	if p.off {
		return
	}
	p.answered = true
	p.quota.observe(at, sent, o.Quota)
	stale := p.everSlowed && sent < p.refused
	switch {
	case o.Kind == Throttled && stale:
		if o.HasRetryAfter {
			p.hold = max(p.hold, after(at, o.RetryAfter))
		}
	case o.Kind == Throttled:
		p.refuse(at, o)
	case stale:
	case o.Kind == Success:
		p.succeed(sent)
	case o.Kind == Rejected:
		p.epoch.add(sent) // it spent some of the allowance all the same
	}
}

// succeed moves the interval down, or leaves it.
func (p *pacer) succeed(sent time.Duration) {
	if p.refusals > 0 {
		// Who comes later than the hold demands was kept by something else.
		quiet := min(sent, p.hold+span(p.interval))
		p.epoch.paused += seconds(quiet - p.streakBegan)
		p.memory.paid(p.cool.worked(seconds(quiet-p.refused), p.refusals))
		p.refusals = 0
	}
	p.epoch.add(sent)
	held := p.interval*flowSlack < p.flow
	switch resume := p.memory.resume(); {
	case p.memory.limit > 0 && p.interval > resume:
		p.set(max(resume, min(p.interval*recoverStep, 4*resume)))
	case held:
	case p.memory.limit == 0:
		p.set(p.interval * accelerate)
	default:
		p.set(min(p.interval, p.memory.climb(p.interval)))
	}
}

// refuse moves the interval up and holds the next request back.
func (p *pacer) refuse(at time.Duration, o Outcome) {
	rate := 1 / p.interval
	if p.flow > 0 {
		rate = min(rate, flowTrust/p.flow)
	}
	if p.refusals++; p.refusals == 1 {
		p.streakBegan = at
		p.cool.settled = p.epoch.n >= 300 && p.epoch.active(at) > 2*p.cool.good
	}
	if p.epoch.n > 0 {
		p.memory.learn(&p.epoch, at, rate, o.HasRetryAfter)
		p.epoch = epoch{began: at}
	}
	was := p.interval
	slower := was * leastSlowdown
	if p.refusals > 1 {
		slower = was * repeatedSlowdown
	}
	if p.memory.limit > 0 {
		slower = max(slower, p.memory.resume())
	}
	p.interval = max(was, min(slower, p.longest))
	p.refused, p.everSlowed = at, true
	p.slowed = Backoff{Interval: span(p.interval), HasRetryAfter: o.HasRetryAfter && o.RetryAfter > 0}
	if o.HasRetryAfter && o.RetryAfter > 0 {
		p.hold = max(p.hold, after(at, o.RetryAfter))
	} else { // no wait at all is no answer to a pace that was refused
		p.hold = max(p.hold, at+span(p.cool.pause(p.refusals, 1/rate)))
	}
	p.slot = p.hold - span(p.interval) // the hold takes the place of the pace, it does not add to it
}

func (p *pacer) set(interval float64) {
	p.interval = min(max(interval, p.ceiling, leastInterval), p.longest)
}

func (p *pacer) rate() (Rate, bool) {
	if p.off {
		return Rate{}, false
	}
	r := Rate{Interval: span(p.interval), Ceiling: span(p.ceiling)}
	if p.everSlowed {
		slowed := p.slowed
		r.Backoff = &slowed
	}
	return r, true
}

func (p *pacer) learned() (Learned, bool) {
	if p.off || !p.answered {
		return Learned{}, false
	}
	l := Learned{Interval: span(p.interval)}
	l.keep(p.memory, p.cool)
	if l.Limit == 0 {
		return l, true
	}
	if p.epoch.n >= trusted { // a rate that was borne for so long is no longer above the limit
		l.Limit = max(l.Limit, min(p.epoch.n/max(p.interval, p.epoch.active(p.last)), l.Refused))
	}
	l.Interval = span(max(p.ceiling, 1/(l.Limit*(1-l.Margin))))
	return l, true
}
