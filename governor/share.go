package governor

import "time"

// Share is a run's part of an allowance that several runs draw on: how many they are,
// and which of them this one is, from 0 on. The same place is never given to two.
type Share struct{ Runs, Place int }

const (
	// turn is how long one run draws on the allowance before the next one does. What the
	// provider sees is one flow, as of one run, at whatever pace.
	turn = 2 * time.Second
	// settling is within what time every run has heard that another came or went.
	settling = 2 * time.Second
	// apartBy is by how much the clocks of two runs differ at most.
	apartBy = 50 * time.Millisecond
	// A run that has wanted nothing for idleAfter lends its turns for lendFor, again and
	// again, and keeps its word: back earlier, it waits.
	idleAfter, lendFor = 2 * time.Second, 2500 * time.Millisecond
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
	id        float64 // of this run, in what it tells
	zero      int64   // wall clock at the governor's first question, in ns
	former    [formerShares]formerShare
	notBefore time.Duration // the others have heard of this run
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
		s = &share{Share: to, id: 1 + x.float()*(1<<52), demand: at}
		p.share = s
		if to.Runs > 1 {
			s.notBefore = at + settling
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
	}
	s.Share = to
	s.told = News{}
	for i := range s.members {
		s.members[i].lends = 0
	}
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

// owner is whose turn it is by a share; the order changes from round to round, so that no
// rhythm of the provider's favours one.
func (s *share) owner(of Share, number int64) int {
	round := sequence(number / int64(of.Runs))
	return int((uint64(number%int64(of.Runs)) + uint64(round.float()*float64(of.Runs))) % uint64(of.Runs))
}

// mine reports that the turn is this run's, by its place or because those before it lend
// theirs.
func (s *share) mine(at time.Duration, number int64) bool {
	for i := range s.former {
		if f := &s.former[i]; at < f.until && s.owner(f.Share, number) != f.Place {
			return false
		}
	}
	owner := s.owner(s.Share, number)
	for range s.Runs {
		if owner == s.Place {
			return true
		}
		if !s.lends(owner, at) {
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

// next is when the run may send that would like to at an instant, not before now. It is no
// later than the next turn begins, because that may be lent meanwhile.
func (s *share) next(at, due time.Duration, room time.Duration) time.Duration {
	if s.Runs == 1 {
		return max(due, s.lent)
	}
	t := max(due, s.notBefore, s.lent, at)
	first := max(t, s.begin(s.turnAt(at)+1)+apartBy)
	for range 3*s.Runs + 3 {
		number := s.turnAt(t)
		begin := s.begin(number)
		if s.mine(t, number) {
			if t < begin+apartBy && !s.mine(t, number-1) {
				t = begin + apartBy
			}
			if t+room <= begin+turn || s.mine(t, number+1) {
				break
			}
		}
		t = begin + turn
	}
	return min(t, first)
}

// turnAt is the number of the turn at an instant, begin when it begins.
func (s *share) turnAt(at time.Duration) int64 { return s.wall(at) / int64(turn) }

func (s *share) begin(number int64) time.Duration {
	return time.Duration(number*int64(turn) - s.zero)
}

// enter takes over the flow where the run before is expected to have left it: its news is
// on the way.
func (p *pacer) enter(at time.Duration) {
	s := p.share
	number := s.turnAt(at)
	if s.Runs == 1 || number == s.entered || !s.mine(at, number) {
		return
	}
	before := s.entered
	if s.entered = number; before == number-1 {
		return
	}
	from, busy := p.slot, false
	for i := range s.members {
		m := &s.members[i]
		from = max(from, min(m.slot, at))
		busy = busy || m.busy && m.at > at-2*turn
	}
	if passed := s.begin(number) - from; busy && passed > 0 {
		slots := int(seconds(passed) / p.interval)
		from += span(float64(slots) * p.interval)
		if p.quota.known && !p.quota.probing {
			p.quota.remaining -= slots
		}
	}
	if from > p.slot {
		p.slot, p.last = from, max(p.last, from)
	}
}

// turned is a wait that respects the turns.
func (p *pacer) turned(at, wait time.Duration) time.Duration {
	s := p.share
	room := time.Duration(0)
	if p.apart.took > p.interval { // what is under way at once may be what is limited
		room = min(span(p.apart.took+late*p.apart.off), turn/2)
	}
	wait = s.next(at, at+wait, room) - at
	s.demand = at + wait
	return wait
}

// wants reports that the run has something to send.
func (p *pacer) wants(at time.Duration) bool { return p.inFlight > 0 || at <= p.share.demand+expected }
