package governor

import "time"

// Share is a run's part of an allowance that several runs draw on: how many they are,
// and which of them this one is, from 0 on. The same place is never given to two.
type Share struct{ Runs, Place int }

const (
	// A run draws on the allowance for a turn, before the next one does. What the provider
	// sees is one flow, as of one run. The longer a turn, the less is lost where it ends and
	// what happened at its end is not known yet; the shorter, the sooner is everybody's.
	longTurn, midTurn, shortTurn = 4 * time.Second, 3 * time.Second, 2 * time.Second
	fewRuns, manyRuns            = 8, 16
	// settling is within what time every run has heard that another came or went.
	settling = 2 * time.Second
	// handover is how long after the end of a turn its news is waited for when a quiet ended
	// in it, and recheckNews how often it is looked for.
	handover, recheckNews = 1500 * time.Millisecond, 250 * time.Millisecond
	// lookAgain is how often a run looks whether a turn became its own.
	lookAgain = time.Second
	// newestLag weighs the newest time that news took, surely makes it one that is rarely
	// longer, within mostLag.
	newestLag, surely, mostLag = 0.2, 1.3, 1500 * time.Millisecond
	// searching is a multiple of the interval to come back to above which the pace still moves fast.
	searching = 1.05
	// mostRoom is the most time at the end of a turn that is left to what is under way.
	mostRoom = 250 * time.Millisecond
	// greeting is how long a run that joins others waits for the first word of one of them.
	greeting = 4 * time.Second
	// apartBy is by how much the clocks of two runs differ at most.
	apartBy = 50 * time.Millisecond
	// A run that has wanted nothing for idleAfter lends its turns for lendFor, again and
	// again, and keeps its word: back earlier, it waits.
	idleAfter, lendFor = 2 * time.Second, 4 * time.Second
	// expected is how late a request may be asked for again that was told to wait.
	expected = 500 * time.Millisecond
	// mostRuns bounds the runs on one allowance.
	mostRuns = 256
	// formerShares is how many changes within the settling time are told apart.
	formerShares = 4
)

// share takes turns with the other runs. All beliefs of the pacer are about the whole
// allowance; the turns alone divide it.
type share struct {
	Share
	id        float64       // of this run, in what it tells
	guard     time.Duration // between the requests of two runs, by their clocks
	zero      int64         // wall clock at the governor's first question, in ns
	former    [formerShares]formerShare
	joined    time.Duration // the others have heard of this run
	notBefore time.Duration // and this run of them, or it waited long enough
	entered   int64         // turn that was entered last
	demand    time.Duration // when a request is expected to be asked for
	lent      time.Duration // nothing leaves before this: it is promised

	number  float64       // of the last news
	told    News          // the last news
	latest  belief        // what the last event left
	n, c    float64       // own answers since then, and those that moved the pace
	seen    float64       // answers of the epoch so far
	climbed float64       // where the climb was
	pace    float64       // and the interval
	refused time.Duration // the last refusal so far
	streak  int           // refusals in a row so far
	lag     float64       // how long news takes
	members []member
}

// formerShare is a share that some of the others may still hold to be true.
type formerShare struct {
	Share
	until time.Duration
}

// member is what is known of another run.
type member struct {
	from          uint64
	number        float64
	share         Share
	at            time.Duration // when its news was made
	lends         time.Duration
	busy          bool
	slot          time.Duration
	chain, origin float64
	n, c          float64
}

// Divide tells that the run shares the allowance with others from now on, or that their
// number changed. A run that joins others waits until all of them have heard of it.
func (g *Governor) Divide(now time.Time, s Share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.at(now)
	s.Runs = min(max(1, s.Runs), mostRuns)
	s.Place = min(max(0, s.Place), s.Runs-1)
	g.pace.divide(at, now, s, g.c.Seed)
}

func (p *pacer) divide(at time.Duration, now time.Time, to Share, seed uint64) {
	s := p.share
	switch {
	case p.off:
		return
	case s == nil:
		x := sequence(seed ^ uint64(now.UnixNano()))
		s = &share{Share: to, id: 1 + x.float()*(1<<52), guard: span(p.ceiling) + apartBy, demand: at}
		p.share = s
		if to.Runs > 1 {
			s.joined, s.notBefore = at+settling, at+greeting
			if to.Place > 0 {
				p.spare.left = 0 // the first one spends it
			}
		}
		s.refused, s.streak, s.seen = p.refused, p.refusals, p.epoch.n
		s.tune(at, now)
		return
	case s.Share == to:
		s.tune(at, now)
		return
	}
	s.tune(at, now)
	if s.Runs == 1 && s.latest.chain == 0 {
		p.event(at) // those who come know less
	}
	if to.Runs > 1 {
		s.keep(at, s.Share)
	} else {
		s.lent = max(s.lent, at+s.guard) // whoever went may have sent in this moment
	}
	s.Share = to
	s.told = News{}
	for i := range s.members {
		s.members[i].lends = 0
	}
}

// turn is how long each one is.
func (s Share) turn() time.Duration {
	switch {
	case s.Runs <= fewRuns:
		return longTurn
	case s.Runs <= manyRuns:
		return midTurn
	}
	return shortTurn
}

// keep remembers a share that the others may still hold to be true.
func (s *share) keep(at time.Duration, old Share) {
	oldest := &s.former[0]
	for i := range s.former {
		if f := &s.former[i]; f.until < oldest.until {
			oldest = f
		}
	}
	if oldest.until > at { // more changes than can be told apart
		s.notBefore = max(s.notBefore, oldest.until)
	}
	*oldest = formerShare{old, at + settling}
}

// tune sets the wall clock.
func (s *share) tune(at time.Duration, now time.Time) { s.zero = now.UnixNano() - int64(at) }

func (s *share) wall(at time.Duration) int64 { return s.zero + int64(at) }

// owner is whose turn it is; the order changes from round to round, so that no rhythm of
// the provider's favours one.
func (s Share) owner(number int64) int {
	round := sequence(number / int64(s.Runs))
	return int((uint64(number%int64(s.Runs)) + uint64(round.float()*float64(s.Runs))) % uint64(s.Runs))
}

// owns reports that the turn at a wall clock is the place's.
func (s Share) owns(wall int64) bool { return s.owner(wall/int64(s.turn())) == s.Place }

// mine reports that the turn at an instant is this run's, by its place or because those
// before it lend theirs for now.
func (s *share) mine(at, now time.Duration) bool {
	owner := s.owner(s.turnAt(at))
	for range s.Runs {
		if owner == s.Place {
			return true
		}
		if !s.lends(owner, max(at, now)) {
			return false
		}
		owner = (owner + 1) % s.Runs
	}
	return false
}

func (s *share) lends(place int, at time.Duration) bool {
	for i := range s.members {
		if m := &s.members[i]; m.share == (Share{s.Runs, place}) && at < m.lends {
			return true
		}
	}
	return false
}

// admits reports that a request may leave at an instant and be under way for some time:
// the turn is the run's, has been for as long as two requests have to be apart, and was so
// too by what some of the others may still hold to be true.
func (s *share) admits(at, room time.Duration) bool {
	if !s.mine(at, at) || !s.mine(at-s.guard, at) || room > 0 && !s.mine(at+room, at) {
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

// next is when to ask again for a request that would like to leave at an instant, which is
// when it may leave, or earlier: a turn may be lent until then.
func (s *share) next(at, due, room time.Duration) time.Duration {
	if s.Runs == 1 {
		return max(due, s.lent)
	}
	t := max(due, s.notBefore, s.lent, at)
	if !s.admits(t, room) {
		t = s.later(t)
	}
	return min(t, max(due, at+lookAgain))
}

// later is the next instant at which a request may be admitted that is not at one.
func (s *share) later(at time.Duration) time.Duration {
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

// turnAt is the number of the turn at an instant, begin when one begins.
func (s *share) turnAt(at time.Duration) int64 { return s.wall(at) / int64(s.turn()) }

func (s *share) begin(number int64) time.Duration {
	return time.Duration(number*int64(s.turn()) - s.zero)
}

// enter takes over the flow where the run before is expected to have left it: its news is
// on the way.
func (p *pacer) enter(at time.Duration) {
	s := p.share
	number := s.turnAt(at)
	if s.Runs == 1 || number == s.entered || at < max(s.notBefore, s.lent) || !s.mine(at, at) {
		return
	}
	before := s.entered
	if s.entered = number; before == number-1 {
		return
	}
	from, busy := p.slot, false
	for i := range s.members {
		m := &s.members[i]
		from = max(from, min(m.slot, at)+apartBy) // by a clock that may be behind
		busy = busy || m.busy && m.at > at-2*s.turn()
	}
	begin := s.begin(number)
	if passed := begin + apartBy - from; busy && passed > 0 {
		slots := int(seconds(passed) / p.interval)
		from += span(float64(slots) * p.interval)
		if p.quota.known && !p.quota.probing {
			p.quota.remaining -= slots
		}
	}
	if unused := max(begin+s.guard, at) - span(p.interval) - from; unused > 0 {
		// There is no catching up with what was nobody's, or the others'.
		p.epoch.idle += max(0, seconds(unused)-p.memory.burst*p.interval)
		from += unused
	}
	if from > p.slot {
		p.slot, p.last = from, max(p.last, from)
	}
}

// turned is a wait that respects the turns.
func (p *pacer) turned(at, wait time.Duration) time.Duration {
	s := p.share
	room := time.Duration(0)
	if p.memory.limit == 0 && p.apart.took > p.interval { // what is under way at once may be what is limited
		room = min(span(p.apart.took), mostRoom)
	}
	due := at + wait
	cheap := p.apart.known || p.apart.trial // a distance that was refused costs nothing but itself
	fast := p.memory.limit == 0 && p.interval > p.ceiling || p.memory.limit > 0 && p.interval > searching*p.memory.resume()
	if fast && !cheap {
		room = max(room, s.unheard()) // what comes of a pace that moves so fast the next one should know
	}
	if number := s.turnAt(at); !cheap && p.refusals > 0 && s.Runs > 1 && s.entered == number && p.hold < s.begin(number) {
		// Another has tried whether the quiet was long enough, and what it found is on its way.
		if tried := s.begin(number) + handover; due < tried {
			due = min(tried, at+recheckNews)
		}
	}
	wait = s.next(at, due, room) - at
	s.demand = at + wait
	return wait
}

// unheard is how long before the end of a turn what happens is not known when the next begins.
func (s *share) unheard() time.Duration { return min(span(surely*s.lag), mostLag) }

// wants reports that the run has something to send.
func (p *pacer) wants(at time.Duration) bool { return p.inFlight > 0 || at <= p.share.demand+expected }
