package governor

import (
	"time"
)

// ApplyPeerUpdate processes an update of another run on the quota. A refusal that the other run met counts like
// one's own, once, even if several runs met it at the same time. No update makes requests faster than the owner's
// ceiling allows, or delays them longer than a refusal would.
func (g *Governor) ApplyPeerUpdate(now time.Time, n PeerUpdate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.sinceOrigin(now)
	g.pacer.applyUpdate(at, now, n)
}

func (p *pacer) applyUpdate(at time.Duration, now time.Time, n PeerUpdate) {
	s := p.turns
	if s == nil || s.Runs == 1 || !n.isValid() {
		return
	}
	p.begin(at)
	s.setClock(at, now)
	if s.toLocal(n.at) > at+maxClockAhead {
		return
	}
	m := s.peer(at, n.From)
	if m == nil || n.number <= m.number {
		return
	}
	since := m.at
	if m.number == 0 {
		since = at - settleTime
	}
	if s.joined > 0 {
		s.joined, s.notBefore = 0, s.joined
	}
	m.number, m.share, m.busy = n.number, n.Share, n.busy == 1
	m.at = s.clampLocal(n.at, at-maxEpochAge, at)
	s.lag += (min(inSeconds(at-m.at), inSeconds(maxLag)) - s.lag) * lagWeight
	m.lendsUntil = 0
	if n.lendsUntil > 0 {
		m.lendsUntil = min(s.toLocal(n.lendsUntil), at+lendPeriod) - s.guard
	}
	m.slot = s.clampLocal(n.slot, at-maxEpochAge, at)
	b := n.estimate
	if b.chain > s.latest.chain || b.chain == s.latest.chain && b.before(&s.latest) {
		if b.chain > s.latest.chain+maxEventGap && s.latest.chain > 0 {
			return
		}
		p.adoptEstimate(at, b)
	}
	same := b.chain == s.latest.chain && b.origin == s.latest.origin
	if same && b.chain > 0 {
		p.hold = max(p.hold, s.clampLocal(b.hold, 0, at+maxPeerPause))
	}
	if m.chain != b.chain || m.origin != b.origin {
		m.chain, m.origin, m.answers, m.paceSteps = b.chain, b.origin, 0, 0
	}
	if same {
		p.addAnswers(m, since, n)
		p.epoch.setIdle(min(n.idle, inSeconds(at-p.epoch.began)))
		s.rememberState(p)
	} else {
		m.answers, m.paceSteps = n.answers, n.paceSteps
	}
	if n.quotaUntil > 0 {
		sent := s.clampLocal(n.quotaSent, at-maxEpochAge, at)
		if q := &p.quota; !q.known || sent > q.sent {
			*q = quotaGate{
				known:     true,
				remaining: int(n.quota),
				sent:      sent,
				until:     s.clampLocal(n.quotaUntil, at-maxEpochAge, at+maxPeerPause),
			}
		}
	}
	if slot := min(m.slot, s.turnStart(s.entered)+maxClockSkew); slot > p.slot { // no other run sends during its turn
		p.slot, p.last = slot, max(p.last, slot)
	}
}

// isValid reports whether all numbers are within bounds.
func (n *PeerUpdate) isValid() bool {
	ok := true
	n.eachField(func(_ string, v *float64) { ok = ok && *v >= 0 && *v <= maxPeerNumber })
	return ok
}

// before reports whether b is the earlier of two concurrent events.
func (b *estimate) before(o *estimate) bool {
	return b.event < o.event || b.event == o.event && b.origin < o.origin
}

// peer returns the state of another run, and creates it if there is room.
func (s *turnSchedule) peer(at time.Duration, from uint64) *peerState {
	var free *peerState
	for i := range s.peers {
		m := &s.peers[i]
		if m.from == from {
			return m
		}
		if m.at < at-peerTimeout {
			free = m
		}
	}
	if free == nil {
		if len(s.peers) == maxPeers {
			return nil
		}
		s.peers = append(s.peers, peerState{})
		free = &s.peers[len(s.peers)-1]
	}
	*free = peerState{from: from}
	return free
}

// addAnswers adds the answers of another run since an instant.
func (p *pacer) addAnswers(m *peerState, since time.Duration, n PeerUpdate) {
	more, steps := min(n.answers-m.answers, maxPeerAnswers), n.paceSteps-m.paceSteps
	m.answers, m.paceSteps = max(m.answers, n.answers), max(m.paceSteps, n.paceSteps)
	if more <= 0 {
		return
	}
	since = max(since, p.epoch.began)
	passed := max(0, m.at-since)
	more = min(more, 1+inSeconds(passed)/max(p.ceiling, shortestInterval)) // no run exceeds the ceiling
	each := passed / time.Duration(max(1, more))
	for i := range int(more) {
		p.countDelayed(since + each*time.Duration(i+1))
		if float64(i) < steps {
			p.shortenInterval(false)
		}
	}
}

// adoptEstimate continues with the state of another run after an event that it met.
func (p *pacer) adoptEstimate(at time.Duration, b estimate) {
	s := p.turns
	m, c := &p.limits, &p.pauses
	flag := func(bit int) bool { return int(min(b.flagged, flagsEnd-1))&bit != 0 }
	limit := validNumber(b.limit, maxLearnedNumber)
	if m.limit > 0 {
		limit = max(limit, minPeerShare*m.limit)
	} else if limit > 0 {
		limit = max(limit, minPeerShare*p.rateInUse())
	}
	if limit > 0 {
		*m = limitEstimator{
			limit:   limit,
			refused: min(max(b.refused, limit*1.002), maxLearnedNumber),
			margin: min(
				max(b.margin, narrowestMargin),
				maxSpacingMargin,
			),
			caution: min(b.caution, maxSpacingMargin),
			burst:   validNumber(b.burst, maxLearnedNumber),
			cost: min(
				b.cost,
				maxEpochAge.Seconds(),
			),
			briefPauses: flag(flagBrief),
			climbLength: min(b.sweep, longestCostly),
			climbed:     min(b.climbed, maxLearnedNumber),
			count:       b.count,
			window:      flag(flagWindow),
			size:        b.size,
			past: deliveryStretch{
				n:       b.pastN,
				seconds: max(b.pastSeconds, shortestInterval),
				quiet:   b.pastQuiet,
				sure:    min(b.pastSure, 1),
			},
			highest: m.highest,
			random: randomRefusals{
				last: validNumber(
					b.scatterLast,
					maxLearnedNumber,
				),
				up:       min(b.scatterUp, maxScatter),
				down:     min(b.scatterDown, maxScatter),
				isRandom: flag(flagChance),
			},
		}
	}
	*c = pauseSearch{
		lastGood: min(b.lastGood, longestPause), current: min(b.current, longestPause), first: min(b.first, longestPause),
		brief: flag(flagCoolBrief), strict: flag(flagCoolStrict), trying: flag(flagTrying), settled: flag(flagSettled),
	}
	slowest := p.longest
	if limit > 0 {
		slowest = max(4/limit, p.interval*repeatedSlowdown)
	}
	p.setInterval(min(b.interval, slowest))
	p.refusals = int(min(b.refusals, maxLearnedNumber))
	p.lastRefusal, p.streakBegan = s.clampLocal(b.last, at-maxEpochAge, at), s.clampLocal(b.streak, at-maxEpochAge, at)
	p.lasted, p.cycle = min(b.lasted, maxEpochAge.Seconds()), min(b.cycle, maxEpochAge.Seconds())
	p.hold = max(p.hold, s.clampLocal(b.hold, 0, at+maxPeerPause))
	if b.slowdown > 0 {
		p.everSlowed = true
		p.lastBackoff = Backoff{Interval: toDuration(p.interval), HasRetryAfter: b.slowdown == 2}
		if p.refusals > 0 {
			p.peerRefusal = at
		}
	}
	p.repaying, p.cutRate, p.cuts = flag(flagRepaying), min(b.suspect, maxLearnedNumber), int(min(b.cuts, cutsInARow))
	p.spare.depth, p.spare.left, p.spare.spent = validNumber(b.depth, maxLearnedNumber), 0, 0
	p.gaps.known, p.gaps.trial, p.gaps.ruledOut = flag(flagSpaced), flag(flagTrial), flag(flagPatient)
	p.gaps.strikes = int(min(b.strikes, maxStrikes))
	p.epoch = refusalEpoch{
		began: s.clampLocal(
			b.began,
			at-maxEpochAge,
			at,
		),
		n:      min(b.n, maxPeerNumber),
		paused: min(b.paused, maxEpochAge.Seconds()),
	}
	p.slot = max(p.slot, p.hold-toDuration(p.interval)) // the hold replaces the interval
	s.latest, s.answers, s.paceSteps = b, 0, 0
	for i := range s.peers {
		if m := &s.peers[i]; m.chain == b.chain && m.origin == b.origin {
			n := PeerUpdate{answers: m.answers, paceSteps: m.paceSteps}
			m.answers, m.paceSteps = 0, 0
			p.addAnswers(m, p.epoch.began, n)
		}
	}
	s.rememberState(p)
}
