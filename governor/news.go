package governor

import "time"

// News is what the other runs on an allowance should know of one: what it counted and what
// its last refusal taught. It is cumulative, so that one that is lost, doubled or overtaken
// by a later one does no harm. Fields spells it as numbers and NewsOf reads it back.
type News struct {
	// From tells the runs apart, and Share is the part that From has. They are no fields:
	// whoever passes news on between programs sets them, because it knows them for sure.
	From  uint64
	Share Share

	number float64 // later ones are larger
	at     float64 // when it was made; times are milliseconds of the wall clock
	lends  float64 // nothing leaves there before
	busy   float64 // 1: it has something to send
	slot   float64 // of the last request
	n, c   float64 // answers since the event, and those of them that moved the pace
	idle   float64 // seconds of the epoch in which nobody had anything to send

	quota, quotaSent, quotaUntil float64 // left, found when, full again when; the last is 0 if unknown

	belief belief
}

// belief is what an event, a refusal or the end of a quiet, left the pacer with.
type belief struct {
	chain  float64 // how many events came before; of two with as many the earlier counts
	origin float64 // run that met it
	event  float64 // when

	interval, limit, refused, margin, caution, burst, cost   float64
	sweep, climbed, count, size                              float64
	pastN, pastSeconds, pastQuiet, pastSure                  float64
	good, current, first                                     float64
	refusals, last, streak, lasted, cycle, hold, told        float64
	began, n, paused, suspect, depth, strikes, cuts, flagged float64
	scatterLast, scatterUp, scatterDown                      float64
}

// The bits of belief.flagged, in the order in which event sets them.
const (
	flagBrief = 1 << iota
	flagWindow
	flagCoolBrief
	flagCoolStrict
	flagTrying
	flagSettled
	flagRepaying
	flagSpaced
	flagTrial
	flagPatient
	flagChance
	flagsEnd
)

// each visits the numbers of news by their names.
func (n *News) each(visit func(name string, v *float64)) {
	b := &n.belief
	for _, f := range [...]struct {
		name string
		v    *float64
	}{
		{"number", &n.number}, {"at_ms", &n.at}, {"lends_ms", &n.lends}, {"busy", &n.busy}, {"slot_ms", &n.slot},
		{"answers", &n.n}, {"steps", &n.c}, {"idle_s", &n.idle},
		{"quota", &n.quota}, {"quota_sent_ms", &n.quotaSent}, {"quota_until_ms", &n.quotaUntil},
		{"chain", &b.chain}, {"origin", &b.origin}, {"event_ms", &b.event},
		{"interval_s", &b.interval}, {"limit", &b.limit}, {"refused", &b.refused}, {"margin", &b.margin},
		{"caution", &b.caution}, {"burst", &b.burst}, {"cost_s", &b.cost}, {"sweep", &b.sweep}, {"climbed", &b.climbed},
		{"count", &b.count}, {"size", &b.size}, {"past", &b.pastN}, {"past_s", &b.pastSeconds},
		{"past_quiet_s", &b.pastQuiet}, {"past_sure", &b.pastSure},
		{"pause_s", &b.good}, {"pausing_s", &b.current}, {"first_pause_s", &b.first},
		{"refusals", &b.refusals}, {"last_ms", &b.last}, {"streak_ms", &b.streak}, {"lasted_s", &b.lasted},
		{"cycle_s", &b.cycle}, {"hold_ms", &b.hold}, {"told", &b.told}, {"began_ms", &b.began}, {"base", &b.n},
		{"paused_s", &b.paused}, {"suspect", &b.suspect}, {"depth", &b.depth}, {"strikes", &b.strikes},
		{"cuts", &b.cuts}, {"flags", &b.flagged},
		{"scatter_last", &b.scatterLast}, {"scatter_up", &b.scatterUp}, {"scatter_down", &b.scatterDown},
	} {
		visit(f.name, f.v)
	}
}

// Fields spells news as numbers. What is zero is left out.
func (n News) Fields() map[string]float64 {
	fields := make(map[string]float64)
	n.each(func(name string, v *float64) {
		if *v != 0 {
			fields[name] = *v
		}
	})
	return fields
}

// NewsOf reads what Fields wrote; false when a number of it is none, is negative or is out
// of all bounds. Names that it does not know are left aside.
func NewsOf(fields map[string]float64) (News, bool) {
	var n News
	ok := true
	n.each(func(name string, v *float64) {
		*v = fields[name]
		if !(*v >= 0 && *v <= largest) {
			ok = false
		}
	})
	if !ok {
		return News{}, false
	}
	return n, true
}

const (
	// largest bounds every number of news: what a float64 holds exactly.
	largest = 1 << 53
	// longestHeard is the longest quiet that one run imposes on another. After that it
	// finds out for itself.
	longestHeard = longestPause * time.Second
	// ahead is by how much news may be from the future, where clocks are badly set.
	ahead = 5 * time.Second
	// oldest is how long an epoch lasts at most in the view of the others.
	oldest = 48 * time.Hour
	// leastHeard is the least part of a limit that one event leaves of it.
	leastHeard = 0.35
	// longestChain is by how many events a run may be behind another and still follow it,
	// unless it is new.
	longestChain = 1000
	// mostMembers bounds the runs that are remembered, silence is after what they are
	// forgotten.
	mostMembers, silence = mostRuns, time.Minute
	// mostAnswers bounds the answers that one news adds.
	mostAnswers = 2000
)

// News is what the others on the allowance should know by now; false if that is nothing
// new. It is asked a few times per second, and at once after a refusal.
func (g *Governor) News(now time.Time) (News, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.at(now)
	p := &g.pace
	s := p.share
	if s == nil || s.Runs == 1 {
		return News{}, false
	}
	s.tune(at, now)
	wants := p.wants(at)
	if p.inFlight == 0 && at > s.demand+idleAfter && s.lent < at+lendFor/2 {
		s.lent = at + lendFor
	}
	n := News{
		Share: s.Share, lends: s.ms(s.lent), slot: s.ms(p.slot), n: s.n, c: s.c, idle: p.epoch.idle, belief: s.latest,
	}
	if s.lent <= at {
		n.lends = 0
	}
	if wants {
		n.busy = 1
	}
	if n.belief.chain > 0 {
		n.belief.hold = s.ms(p.hold)
	}
	if p.quota.known {
		n.quota, n.quotaSent, n.quotaUntil = float64(max(0, p.quota.remaining)), s.ms(p.quota.sent), s.ms(p.quota.until)
	}
	if old := s.told; old.number > 0 {
		old.number, old.at = 0, 0
		if old == n {
			return News{}, false
		}
	}
	s.number++
	n.number, n.at = s.number, s.ms(at)
	s.told = n
	return n, true
}

// ms is an instant on the wall clock, in milliseconds; local is the way back.
func (s *share) ms(at time.Duration) float64 { return max(0, float64(s.wall(at))/1e6) }

func (s *share) local(ms float64) time.Duration { return time.Duration(int64(ms*1e6) - s.zero) }

// within is a local instant between two.
func (s *share) within(ms float64, low, high time.Duration) time.Duration {
	return min(max(s.local(ms), low), high)
}

// note takes in what the last answer changed.
func (p *pacer) note(at time.Duration) {
	s := p.share
	if p.refused != s.refused || p.refusals != s.streak {
		p.event(at)
		return
	}
	if p.epoch.n > s.seen {
		s.n += p.epoch.n - s.seen
		if p.memory.climbed != s.climbed || p.interval != s.pace {
			s.c++
		}
	}
	s.mark(p)
}

// mark remembers how things are, to see what the next answer changes.
func (s *share) mark(p *pacer) {
	s.seen, s.climbed, s.pace = p.epoch.n, p.memory.climbed, p.interval
	s.refused, s.streak = p.refused, p.refusals
}

// event records what this run met.
func (p *pacer) event(at time.Duration) {
	s := p.share
	chain := s.latest.chain + 1
	m, c := &p.memory, &p.cool
	b := belief{
		chain: chain, origin: s.id, event: s.ms(at), interval: p.interval,
		limit: m.limit, refused: m.refused, margin: m.margin, caution: m.caution, burst: m.burst, cost: m.cost,
		sweep: m.sweep, climbed: m.climbed, count: m.count, size: m.size,
		pastN: m.past.n, pastSeconds: m.past.seconds, pastQuiet: m.past.quiet, pastSure: m.past.sure,
		good: c.good, current: c.current, first: c.first,
		refusals: float64(p.refusals), last: s.ms(p.refused), streak: s.ms(p.streakBegan), lasted: max(0, p.lasted), cycle: max(0, p.cycle),
		hold: s.ms(p.hold), began: s.ms(p.epoch.began), n: p.epoch.n, paused: max(0, p.epoch.paused),
		suspect: p.suspect, depth: p.spare.depth, strikes: float64(p.apart.strikes), cuts: float64(p.cuts),
		scatterLast: m.scatter.last, scatterUp: m.scatter.up, scatterDown: m.scatter.down,
	}
	if p.everSlowed {
		b.told = 1
		if p.slowed.HasRetryAfter {
			b.told = 2
		}
	}
	for bit, set := range [...]bool{
		m.brief, m.window, c.brief, c.strict, c.trying, c.settled, p.repaying, p.apart.known, p.apart.trial, p.apart.patient,
		m.scatter.chance,
	} {
		if set {
			b.flagged += float64(int(1) << bit)
		}
	}
	s.latest, s.n, s.c = b, 0, 0
	s.mark(p)
}

// Heed takes in what another run on the allowance found out. A refusal that it met counts
// as one's own, once, however many met it at that moment. Nothing that it says lets
// requests leave faster than the owner's ceiling, or holds them for longer than a refusal.
func (g *Governor) Heed(now time.Time, n News) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.at(now)
	g.pace.heed(at, now, n)
}

func (p *pacer) heed(at time.Duration, now time.Time, n News) {
	s := p.share
	if s == nil || s.Runs == 1 || !n.sane() {
		return
	}
	p.begin(at)
	s.tune(at, now)
	if s.local(n.at) > at+ahead {
		return
	}
	m := s.member(at, n.From)
	if m == nil || n.number <= m.number {
		return
	}
	since := m.at
	if m.number == 0 {
		since = at - settling
	}
	if s.joined > 0 {
		s.joined, s.notBefore = 0, s.joined
	}
	m.number, m.share, m.busy = n.number, n.Share, n.busy == 1
	m.at = s.within(n.at, at-oldest, at)
	s.lag += (min(seconds(at-m.at), seconds(mostLag)) - s.lag) * newestLag
	m.lends = 0
	if n.lends > 0 {
		m.lends = min(s.local(n.lends), at+lendFor) - s.guard
	}
	m.slot = s.within(n.slot, at-oldest, at)
	b := n.belief
	if b.chain > s.latest.chain || b.chain == s.latest.chain && b.before(&s.latest) {
		if b.chain > s.latest.chain+longestChain && s.latest.chain > 0 {
			return
		}
		p.adopt(at, b)
	}
	same := b.chain == s.latest.chain && b.origin == s.latest.origin
	if same && b.chain > 0 {
		p.hold = max(p.hold, s.within(b.hold, 0, at+longestHeard))
	}
	if m.chain != b.chain || m.origin != b.origin {
		m.chain, m.origin, m.n, m.c = b.chain, b.origin, 0, 0
	}
	if same {
		p.join(m, since, n)
		p.epoch.rested(min(n.idle, seconds(at-p.epoch.began)))
		s.mark(p)
	} else {
		m.n, m.c = n.n, n.c
	}
	if n.quotaUntil > 0 {
		sent := s.within(n.quotaSent, at-oldest, at)
		if q := &p.quota; !q.known || sent > q.sent {
			*q = quotaGate{known: true, remaining: int(n.quota), sent: sent, until: s.within(n.quotaUntil, at-oldest, at+longestHeard)}
		}
	}
	if slot := min(m.slot, s.begin(s.entered)+apartBy); slot > p.slot { // in its turn nobody else sends
		p.slot, p.last = slot, max(p.last, slot)
	}
}

// sane reports that all numbers are such.
func (n *News) sane() bool {
	ok := true
	n.each(func(_ string, v *float64) { ok = ok && *v >= 0 && *v <= largest })
	return ok
}

// before reports the earlier of two events that nobody knew of both.
func (b *belief) before(o *belief) bool {
	return b.event < o.event || b.event == o.event && b.origin < o.origin
}

// member finds what is known of a run, and makes room for a new one.
func (s *share) member(at time.Duration, from uint64) *member {
	var free *member
	for i := range s.members {
		m := &s.members[i]
		if m.from == from {
			return m
		}
		if m.at < at-silence {
			free = m
		}
	}
	if free == nil {
		if len(s.members) == mostMembers {
			return nil
		}
		s.members = append(s.members, member{})
		free = &s.members[len(s.members)-1]
	}
	*free = member{from: from}
	return free
}

// join adds the answers of another run since an instant.
func (p *pacer) join(m *member, since time.Duration, n News) {
	more, steps := min(n.n-m.n, mostAnswers), n.c-m.c
	m.n, m.c = max(m.n, n.n), max(m.c, n.c)
	if more <= 0 {
		return
	}
	since = max(since, p.epoch.began)
	passed := max(0, m.at-since)
	more = min(more, 1+seconds(passed)/max(p.ceiling, leastInterval)) // nobody passes the ceiling
	each := passed / time.Duration(max(1, more))
	for i := range int(more) {
		p.countLate(since + each*time.Duration(i+1))
		if float64(i) < steps {
			p.quicken(false)
		}
	}
}

// adopt goes on from what another run met.
func (p *pacer) adopt(at time.Duration, b belief) {
	s := p.share
	m, c := &p.memory, &p.cool
	flag := func(bit int) bool { return int(min(b.flagged, flagsEnd-1))&bit != 0 }
	limit := sane(b.limit, fastest)
	if m.limit > 0 {
		limit = max(limit, leastHeard*m.limit)
	} else if limit > 0 {
		limit = max(limit, leastHeard*p.inUse())
	}
	if limit > 0 {
		*m = memory{
			limit: limit, refused: min(max(b.refused, limit*1.002), fastest),
			margin: min(max(b.margin, leastMargin), mostSpaced), caution: min(b.caution, mostSpaced), burst: sane(b.burst, fastest),
			cost: min(b.cost, oldest.Seconds()), brief: flag(flagBrief), sweep: min(b.sweep, longestCostly), climbed: min(b.climbed, fastest),
			count: b.count, window: flag(flagWindow), size: b.size,
			past: stretch{n: b.pastN, seconds: max(b.pastSeconds, leastInterval), quiet: b.pastQuiet, sure: min(b.pastSure, 1)},
			high: m.high, scatter: scatter{
				last: sane(b.scatterLast, fastest), up: min(b.scatterUp, furthest), down: min(b.scatterDown, furthest), chance: flag(flagChance),
			},
		}
	}
	*c = cooldown{
		good: min(b.good, longestPause), current: min(b.current, longestPause), first: min(b.first, longestPause),
		brief: flag(flagCoolBrief), strict: flag(flagCoolStrict), trying: flag(flagTrying), settled: flag(flagSettled),
	}
	slowest := p.longest
	if limit > 0 {
		slowest = max(4/limit, p.interval*repeatedSlowdown)
	}
	p.set(min(b.interval, slowest))
	p.refusals = int(min(b.refusals, fastest))
	p.refused, p.streakBegan = s.within(b.last, at-oldest, at), s.within(b.streak, at-oldest, at)
	p.lasted, p.cycle = min(b.lasted, oldest.Seconds()), min(b.cycle, oldest.Seconds())
	p.hold = max(p.hold, s.within(b.hold, 0, at+longestHeard))
	if b.told > 0 {
		p.everSlowed = true
		p.slowed = Backoff{Interval: span(p.interval), HasRetryAfter: b.told == 2}
		if p.refusals > 0 {
			p.known = at
		}
	}
	p.repaying, p.suspect, p.cuts = flag(flagRepaying), min(b.suspect, fastest), int(min(b.cuts, cutsInARow))
	p.spare.depth, p.spare.left, p.spare.spent = sane(b.depth, fastest), 0, 0
	p.apart.known, p.apart.trial, p.apart.patient = flag(flagSpaced), flag(flagTrial), flag(flagPatient)
	p.apart.strikes = int(min(b.strikes, mostStrikes))
	p.epoch = epoch{
		began: s.within(b.began, at-oldest, at), n: min(b.n, largest), paused: min(b.paused, oldest.Seconds()),
	}
	p.slot = max(p.slot, p.hold-span(p.interval)) // the hold takes the place of the pace
	s.latest, s.n, s.c = b, 0, 0
	for i := range s.members {
		if m := &s.members[i]; m.chain == b.chain && m.origin == b.origin {
			n := News{n: m.n, c: m.c}
			m.n, m.c = 0, 0
			p.join(m, p.epoch.began, n)
		}
	}
	s.mark(p)
}
