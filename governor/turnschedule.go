package governor

import "time"

// Share is the position of a run among the runs on one quota: their number, and its place from 0 on. Two runs
// never have the same place.
type Share struct{ Runs, Place int }

const (
	// The runs send in turns, so that the provider sees one flow. Long turns lose less at their ends, where the
	// last responses are not yet known to the next run. Short turns let every run send sooner.
	longTurn, midTurn, shortTurn = 4 * time.Second, 3 * time.Second, 2 * time.Second
	fewRuns, manyRuns            = 8, 16
	// settleTime is how long it takes until every run knows that another joined or left.
	settleTime = 2 * time.Second
	// handoverWait is how long after a turn its last update is awaited if a pause ended in that turn.
	// updateRecheck is how often to check for it.
	handoverWait, updateRecheck = 1500 * time.Millisecond, 250 * time.Millisecond
	// turnRecheck is how often a run checks whether a turn became its own.
	turnRecheck = time.Second
	// lagWeight is the weight of the newest delay of an update. lagSafety times the mean is rarely exceeded.
	// maxLag bounds it.
	lagWeight, lagSafety, maxLag = 0.2, 1.3, 1500 * time.Millisecond
	// searchingFactor is the multiple of the resume interval above which the pace still changes quickly.
	searchingFactor = 1.05
	// maxTurnMargin is the longest time at the end of a turn that is kept free for requests in flight.
	maxTurnMargin = 250 * time.Millisecond
	// joinTimeout is how long a run that joins waits for the first update of another run.
	joinTimeout = 4 * time.Second
	// maxClockSkew is the largest difference between the clocks of two runs.
	maxClockSkew = 50 * time.Millisecond
	// A run without requests for lendAfter lends its turns for lendPeriod at a time. It keeps that promise: if it
	// has requests earlier, it waits.
	lendAfter, lendPeriod = 2 * time.Second, 4 * time.Second
	// expectedDelay is how much later than announced a waiting request may ask again.
	expectedDelay = 500 * time.Millisecond
	// maxRuns bounds the runs on one quota.
	maxRuns = 256
	// formerShareCount is how many changes within settleTime can be distinguished.
	formerShareCount = 4
)

// turnSchedule divides a quota among several runs by turns. All estimates of the pacer concern the whole quota;
// only the turns divide it.
type turnSchedule struct {
	Share
	id        float64       // identifies this run in its updates
	guard     time.Duration // minimum time between requests of two runs, by their clocks
	wallZero  int64         // wall clock at the governor's first call, in ns
	former    [formerShareCount]formerShare
	joined    time.Duration // when the other runs know of this one
	notBefore time.Duration // when this run knows of the others, or has waited long enough
	entered   int64         // number of the last turn entered
	demand    time.Duration // when the next request is expected to ask
	lentUntil time.Duration // this run promised to send nothing before this

	number             float64       // sequence number of the last update
	lastUpdate         PeerUpdate    // the last update
	latest             estimate      // state after the last event
	answers, paceSteps float64       // own answers since then, and those that moved the pace
	seen               float64       // answers of the epoch so far
	climbed            float64       // progress of the climb
	pace               float64       // interval so far
	refused            time.Duration // last refusal so far
	streak             int           // refusals in a row so far
	lag                float64       // mean delay of updates in seconds
	peers              []peerState
}

// formerShare is an earlier share that some of the other runs may still assume.
type formerShare struct {
	Share
	until time.Duration
}

// peerState is what is known of another run.
type peerState struct {
	from               uint64
	number             float64
	share              Share
	at                 time.Duration // when its last update was created
	lendsUntil         time.Duration
	busy               bool
	slot               time.Duration
	chain, origin      float64
	answers, paceSteps float64
}

// SetShare sets how many runs share the quota, and the place of this run. Call it again when the number changes.
// A run that joins waits until all others know of it.
func (g *Governor) SetShare(now time.Time, s Share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.sinceOrigin(now)
	s.Runs = min(max(1, s.Runs), maxRuns)
	s.Place = min(max(0, s.Place), s.Runs-1)
	g.pacer.setShare(at, now, s, g.config.Seed)
}

func (p *pacer) setShare(at time.Duration, now time.Time, to Share, seed uint64) {
	s := p.turns
	switch {
	case p.off:
		return
	case s == nil:
		x := randomSequence(seed ^ uint64(now.UnixNano()))
		s = &turnSchedule{Share: to, id: 1 + x.float()*(1<<52), guard: toDuration(p.ceiling) + maxClockSkew, demand: at}
		p.turns = s
		if to.Runs > 1 {
			s.joined, s.notBefore = at+settleTime, at+joinTimeout
			if to.Place > 0 {
				p.spare.left = 0 // the first run spends it
			}
		}
		s.refused, s.streak, s.seen = p.lastRefusal, p.refusals, p.epoch.n
		s.setClock(at, now)
		return
	case s.Share == to:
		s.setClock(at, now)
		return
	}
	s.setClock(at, now)
	if s.Runs == 1 && s.latest.chain == 0 {
		p.recordEvent(at) // runs that join know less
	}
	if to.Runs > 1 {
		s.keepFormer(at, s.Share)
	} else {
		s.lentUntil = max(s.lentUntil, at+s.guard) // a run that left may have just sent a request
	}
	s.Share = to
	s.lastUpdate = PeerUpdate{}
	for i := range s.peers {
		s.peers[i].lendsUntil = 0
	}
}

// turn returns the length of a turn.
func (s Share) turn() time.Duration {
	switch {
	case s.Runs <= fewRuns:
		return longTurn
	case s.Runs <= manyRuns:
		return midTurn
	}
	return shortTurn
}

// keepFormer stores a share that the other runs may still assume.
func (s *turnSchedule) keepFormer(at time.Duration, old Share) {
	oldest := &s.former[0]
	for i := range s.former {
		if f := &s.former[i]; f.until < oldest.until {
			oldest = f
		}
	}
	if oldest.until > at { // too many changes to keep
		s.notBefore = max(s.notBefore, oldest.until)
	}
	*oldest = formerShare{old, at + settleTime}
}

// setClock aligns the schedule with the wall clock.
func (s *turnSchedule) setClock(at time.Duration, now time.Time) {
	s.wallZero = now.UnixNano() - int64(at)
}

func (s *turnSchedule) wall(at time.Duration) int64 { return s.wallZero + int64(at) }

// owner returns the place that has the numbered turn. The order differs from round to round, so that no periodic
// behavior of the provider favors one run.
func (s Share) owner(number int64) int {
	round := randomSequence(number / int64(s.Runs))
	return int((uint64(number%int64(s.Runs)) + uint64(round.float()*float64(s.Runs))) % uint64(s.Runs))
}

// owns reports whether the place has the turn at a wall clock time.
func (s Share) owns(wall int64) bool { return s.owner(wall/int64(s.turn())) == s.Place }

// hasTurn reports whether this run has the turn at an instant, by its place or because the runs before it lend
// theirs.
func (s *turnSchedule) hasTurn(at, now time.Duration) bool {
	owner := s.owner(s.turnAt(at))
	for range s.Runs {
		if owner == s.Place {
			return true
		}
		if !s.isLent(owner, max(at, now)) {
			return false
		}
		owner = (owner + 1) % s.Runs
	}
	return false
}

func (s *turnSchedule) isLent(place int, at time.Duration) bool {
	for i := range s.peers {
		if m := &s.peers[i]; m.share == (Share{s.Runs, place}) && at < m.lendsUntil {
			return true
		}
	}
	return false
}

// admits reports whether a request may be sent at an instant and stay in flight for room. The turn must belong to
// this run, for at least the guard time, also by the former shares that other runs may still assume.
func (s *turnSchedule) admits(at, room time.Duration) bool {
	if !s.hasTurn(at, at) || !s.hasTurn(at-s.guard, at) || room > 0 && !s.hasTurn(at+room, at) {
		return false
	}
	for i := range s.former {
		f := &s.former[i]
		if at < f.until && !(f.owns(s.wall(at)) && f.owns(s.wall(at-s.guard))) {
			return false
		}
	}
	return true
}

// nextCheck returns when to ask again for a request that is due at an instant. That is when it may be sent, or
// earlier, because a turn may be lent until then.
func (s *turnSchedule) nextCheck(at, due, room time.Duration) time.Duration {
	if s.Runs == 1 {
		return max(due, s.lentUntil)
	}
	t := max(due, s.notBefore, s.lentUntil, at)
	if !s.admits(t, room) {
		t = s.nextTurn(t)
	}
	return min(t, max(due, at+turnRecheck))
}

// nextTurn returns the next instant at which the turn changes.
func (s *turnSchedule) nextTurn(at time.Duration) time.Duration {
	next := func(turn time.Duration) time.Duration {
		return at + turn - time.Duration(s.wall(at-s.guard)%int64(turn))
	}
	soonest := next(s.turn())
	for i := range s.former {
		if f := &s.former[i]; at < f.until {
			soonest = min(soonest, f.until, next(f.turn()))
		}
	}
	return soonest
}

// turnAt returns the number of the turn at an instant. turnStart returns when a turn begins.
func (s *turnSchedule) turnAt(at time.Duration) int64 { return s.wall(at) / int64(s.turn()) }

func (s *turnSchedule) turnStart(number int64) time.Duration {
	return time.Duration(number*int64(s.turn()) - s.wallZero)
}

// enterTurn takes over the flow at the point where the previous run probably left it, because its last update may
// still be in transit.
func (p *pacer) enterTurn(at time.Duration) {
	s := p.turns
	number := s.turnAt(at)
	if s.Runs == 1 || number == s.entered || at < max(s.notBefore, s.lentUntil) || !s.hasTurn(at, at) {
		return
	}
	before := s.entered
	if s.entered = number; before == number-1 {
		return
	}
	from, busy := p.slot, false
	for i := range s.peers {
		m := &s.peers[i]
		from = max(from, min(m.slot, at)+maxClockSkew) // its clock may be behind
		busy = busy || m.busy && m.at > at-2*s.turn()
	}
	begin := s.turnStart(number)
	if passed := begin + maxClockSkew - from; busy && passed > 0 {
		slots := int(inSeconds(passed) / p.interval)
		from += toDuration(float64(slots) * p.interval)
		if p.quota.known && !p.quota.probing {
			p.quota.remaining -= slots
		}
	}
	if unused := max(begin+s.guard, at) - toDuration(p.interval) - from; unused > 0 {
		// Time that belonged to other runs, or to none, cannot be made up for.
		p.epoch.idle += max(0, inSeconds(unused)-p.limits.burst*p.interval)
		from += unused
	}
	if from > p.slot {
		p.slot, p.last = from, max(p.last, from)
	}
}

// delayToTurn returns a delay that respects the turns.
func (p *pacer) delayToTurn(at, wait time.Duration) time.Duration {
	s := p.turns
	room := time.Duration(0)
	if p.limits.limit == 0 && p.gaps.latency > p.interval { // the number of concurrent requests may be what is limited
		room = min(toDuration(p.gaps.latency), maxTurnMargin)
	}
	due := at + wait
	cheap := p.gaps.known || p.gaps.trial // a refused distance costs nothing more
	fast := p.limits.limit == 0 && p.interval > p.ceiling ||
		p.limits.limit > 0 && p.interval > searchingFactor*p.limits.resumeInterval()
	if fast && !cheap {
		room = max(room, s.unreportedTime()) // the next run should know the result of a pace that changes this quickly
	}
	if number := s.turnAt(
		at,
	); !cheap && p.refusals > 0 && s.Runs > 1 && s.entered == number &&
		p.hold < s.turnStart(number) {
		// Another run is already probing whether the pause was long enough; wait for its result.
		if tried := s.turnStart(number) + handoverWait; due < tried {
			due = min(tried, at+updateRecheck)
		}
	}
	wait = s.nextCheck(at, due, room) - at
	s.demand = at + wait
	return wait
}

// unreportedTime returns how long before the end of a turn events are not yet known when the next turn begins.
func (s *turnSchedule) unreportedTime() time.Duration {
	return min(toDuration(lagSafety*s.lag), maxLag)
}

// hasDemand reports whether the run has something to send.
func (p *pacer) hasDemand(at time.Duration) bool {
	return p.inFlight > 0 || at <= p.turns.demand+expectedDelay
}
