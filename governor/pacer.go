package governor

import (
	"math"
	"time"
)

const (
	// accelerate multiplies the interval per success until the first refusal. An interval
	// shorter than growth seconds shrinks less, down to gentlest: there nothing is gained
	// by haste, and a limit is found more exactly.
	accelerate, gentlest, growth = 0.6, 0.9, 0.3
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
	lanes    lanes
	flow     float64 // mean gap between requests
	quota    quotaGate

	memory      memory
	epoch       epoch
	spare       spare
	apart       spacing
	cuts        int     // in a row
	sinceCut    float64 // count in the epoch when a connection was cut last; zero if none was
	suspect     float64 // rate at which connections were cut before
	lasted      float64 // how long the last epoch was active
	cycle       float64 // that, and the quiet after it
	repaying    bool    // the hold is for what was spent ahead of the rate
	cool        cooldown
	refusals    int           // in a row
	refused     time.Duration // the last one
	streakBegan time.Duration // the first one in the row
	slowed      Backoff
	everSlowed  bool
	answered    bool
	known       time.Duration // when the last refusal became known, if another run met it
	share       *share        // nil for who was always alone
}

func newPacer(c Config) pacer {
	p := pacer{
		off: c.Discovery <= 0, ceiling: seconds(max(0, c.Ceiling)), longest: seconds(c.Longest), makeUp: seconds(c.Burst),
		random: sequence(c.Seed), lanes: lanes{most: max(0, c.Lanes), open: 1},
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
		p.spare.depth, p.apart.known = sane(l.Depth, fastest), l.Spaced
	}
	return p
}

// rested tells how long the provider was left alone before the run.
func (p *pacer) rested(idle time.Duration) {
	if p.memory.limit > 0 && idle > 0 {
		p.spare.refill(p.memory.limit, seconds(idle))
	}
}

// wait tells how long from now on the next request would be too early.
func (p *pacer) wait(at time.Duration) time.Duration {
	if p.off {
		return 0
	}
	p.begin(at)
	if p.share != nil {
		p.enter(at)
	}
	due := max(p.slot, at-p.credit()) + span(p.interval)
	switch {
	case p.spare.left >= 1 && p.flow > 0:
		due = at
	case p.spare.ahead(at, p.memory.limit) && p.dear():
		due = max(due, p.spare.due(p.memory.limit))
	}
	if (p.apart.known || p.apart.trial) && p.refusals == 0 { // after a refusal the hold alone counts
		due = max(due, p.last+span(p.interval+p.apart.delay(p.last, at)))
	}
	due = max(due, p.last+span(p.ceiling), p.last+p.spacing, p.hold)
	wait := max(0, due-at, p.quota.wait(at, p.inFlight))
	if p.share != nil {
		return p.turned(at, wait)
	}
	return wait
}

// dear reports that a refusal costs more than what there is to spare. Then each request
// that is sent ahead counts whole, as in a window, and the rate has to bring it before the
// next one.
func (p *pacer) dear() bool {
	return p.memory.cost*p.memory.limit > p.spare.most(p.memory.limit)
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
	if p.apart.known || p.memory.strict() {
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
	if ahead := seconds(p.slot-at)/p.interval + 1; p.flow > 0 && ahead > 0 && p.spare.left >= 1 {
		if p.dear() {
			ahead = 1
		}
		p.spare.spend(at, p.memory.limit, ahead)
	} else if p.spare.spent > 0 {
		p.spare.spent++
	}
	p.slot = min(at, p.slot+span(p.interval))
	gap := min(max(0, seconds(at-p.last)), 4*max(p.interval, p.flow))
	if p.flow == 0 {
		gap, p.flow = p.interval, p.interval
	}
	p.flow += (gap - p.flow) * flowShare
	p.apart.leaves(at, p.last)
	p.last = at
	p.spacing = span(min(maxJitter, p.interval) * p.random.float())
}

// withdraw forgets a request that never left. No answer to it is waited for.
func (p *pacer) withdraw() {
	p.land()
	p.apart.open = false
}

// land takes one from those in flight.
func (p *pacer) land() { p.inFlight = max(0, p.inFlight-1) }

// echo reports a refusal of a request that left before the last one was known: of a flow
// of several at once it says the same again, and nothing of how the provider is now.
func (p *pacer) echo(sent time.Duration, o *Outcome) bool {
	return !p.off && p.stale(sent) && (o.Kind == Throttled || o.Kind == Failed && o.Cut)
}

// stale reports a request that left before the last refusal was known.
func (p *pacer) stale(sent time.Duration) bool { return p.everSlowed && sent < max(p.refused, p.known) }

// observe learns from an answer.
func (p *pacer) observe(at, sent time.Duration, o *Outcome) {
	if p.lanes.most > 1 && !p.off {
		p.crowd(at, sent, o)
	}
	p.land()
	if p.off {
		return
	}
	p.answered = true
	p.apart.answered(sent)
	p.quota.observe(at, sent, o.Quota)
	stale := p.stale(sent)
	switch {
	case o.Kind == Throttled && stale:
		if o.HasRetryAfter {
			p.hold = max(p.hold, after(at, o.RetryAfter))
		}
	case o.Kind == Throttled:
		p.refuse(at, sent, o, true)
	case stale:
	case o.Kind == Failed && o.Cut:
		p.cut(at, sent, o)
	case o.Kind == Success:
		p.cuts = 0
		p.apart.passed(at, sent, p.interval)
		p.succeed(sent)
	case o.Kind == Rejected:
		p.epoch.add(sent) // it spent some of the allowance all the same
	}
	if p.share != nil {
		p.note(at)
	}
}

// succeed moves the interval down, or leaves it.
func (p *pacer) succeed(sent time.Duration) {
	if p.refusals > 0 {
		// Who comes later than the hold demands was kept by something else.
		quiet := min(sent, p.hold+span(p.interval))
		p.epoch.paused += seconds(quiet - p.streakBegan)
		if !p.repaying {
			p.memory.paid(p.cool.worked(seconds(quiet-p.refused), p.refusals))
		}
		p.refusals, p.repaying = 0, false
		p.cycle = p.lasted + seconds(quiet-p.streakBegan)
	}
	p.count(sent)
	held := p.interval*flowSlack < p.flow
	if p.memory.limit == 0 { // the mean lags behind a pace that grows so fast
		held = held && p.interval*flowSlack < p.apart.gap
	}
	p.quicken(held)
}

// count takes in an answer, and what their number shows.
func (p *pacer) count(sent time.Duration) {
	if p.epoch.add(sent); p.apart.trial && p.epoch.n >= tried {
		p.apart.trial, p.apart.known = false, true
	}
}

// quicken moves the interval after one more success, unless the flow is held up by something
// else than the pace.
func (p *pacer) quicken(held bool) {
	if p.memory.limit > 0 {
		if resume := p.memory.resume(); p.interval > resume {
			p.set(max(resume, min(p.interval*recoverStep, 4*resume)))
			return
		}
	}
	switch {
	case held, p.apart.trial, p.spare.left >= 1, p.memory.limit == 0 && p.interval <= p.ceiling:
	case p.memory.limit == 0:
		p.set(p.interval * min(gentlest, max(accelerate, math.Exp(-p.interval/growth))))
	default:
		p.set(min(p.interval, p.memory.climb(p.interval)))
	}
}

// inUse is the rate at which requests leave.
func (p *pacer) inUse() float64 {
	rate := 1 / p.interval
	if p.flow > 0 {
		rate = min(rate, flowTrust/p.flow)
	}
	return rate
}

// lesson is what a refusal is taken for.
type lesson int

const (
	ofRate     lesson = iota // the limit is a rate, or a number in a time
	ofDistance               // the request came too close to the one before
	ofSpare                  // what was spent ahead of the rate was not there
	ofChance                 // it may have another cause than the pace
)

// refuse moves the interval up and holds the next request back. The memory learns from
// it when it is a limit for sure.
func (p *pacer) refuse(at, sent time.Duration, o *Outcome, sure bool) {
	rate := p.inUse()
	if p.refusals++; p.refusals == 1 {
		p.streakBegan = at
		p.lasted = p.epoch.active(at)
		p.cool.settle(p.epoch.n, p.epoch.active(at))
	}
	taught := p.learn(at, sent, rate, o, sure)
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
	p.slowed = Backoff{Interval: span(p.interval), HasRetryAfter: told(o) > 0}
	switch {
	case told(o) > 0:
		p.hold = max(p.hold, after(at, o.RetryAfter))
	case taught == ofDistance:
		p.hold = max(p.hold, at+span(spacedHold*p.memory.resume()))
	case taught == ofSpare:
		p.hold = max(p.hold, min(p.spare.due(p.memory.limit), at+span(longestPause)), at+span(1/rate))
	default: // no wait at all is no answer to a pace that was refused
		p.hold = max(p.hold, at+span(p.cool.pause(p.refusals, 1/rate)))
		if p.memory.window && p.refusals == 1 {
			p.hold = max(p.hold, at+span(min(p.cycle-p.lasted, longestPause)))
		}
	}
	p.repaying = taught == ofSpare
	p.spare.left, p.spare.spent = 0, 0
	p.slot = p.hold - span(p.interval) // the hold takes the place of the pace, it does not add to it
}

// told is the quiet in seconds that a refusal asks for.
func told(o *Outcome) float64 {
	if !o.HasRetryAfter {
		return 0
	}
	return seconds(max(0, o.RetryAfter))
}

// learn takes from a refusal what it tells, and begins a new epoch if there was one.
func (p *pacer) learn(at, sent time.Duration, rate float64, o *Outcome, sure bool) lesson {
	taught := ofRate
	switch {
	case p.refusals == 1 && p.memory.limit > 0 && p.spare.ahead(at, p.memory.limit):
		taught = ofSpare
		p.spare.refused(p.memory.limit)
	case !sure:
		taught = ofChance
		p.memory.count = p.epoch.n // if it was a window after all, the next one has as many
	case (p.refusals == 1 || p.apart.trial) && p.memory.spaced(&p.apart, &p.epoch, sent, rate):
		taught = ofDistance
	case p.epoch.n > 0:
		if p.memory.limit == 0 {
			p.spare.opened(&p.epoch, seconds(at-p.epoch.began))
		}
		if p.suspect > 0 { // broken connections cost more than one of a hundred may
			p.memory.scatter = scatter{}
		}
		p.memory.learn(&p.epoch, at, rate, told(o))
	default:
		return taught
	}
	p.epoch = epoch{began: at}
	return taught
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
	l.Interval = span(min(max(p.ceiling, 1/(l.Limit*(1-l.Margin))), p.longest))
	l.Depth, l.Spaced = p.spare.most(l.Limit), p.apart.known
	return l, true
}
