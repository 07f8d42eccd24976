package governor

import "time"

// PeerUpdate is what one run reports to the other runs on the same quota: what it counted and what its last refusal
// taught. Updates are cumulative, so a lost, duplicated or reordered update does no harm. Fields encodes an
// update as numbers and ParsePeerUpdate decodes it.
type PeerUpdate struct {
	// From identifies the sending run, and Share is its position. They are not part of Fields. The program that
	// transports updates sets them, because it knows them reliably.
	From  uint64
	Share Share

	number             float64 // sequence number
	at                 float64 // creation time; times are milliseconds of the wall clock
	lendsUntil         float64 // the run sends nothing before this time
	busy               float64 // 1: it has requests to send
	slot               float64 // scheduled time of its last request
	answers, paceSteps float64 // answers since the event, and those that moved the pace
	idle               float64 // seconds of the epoch in which no run had anything to send

	quota, quotaSent, quotaUntil float64 // requests left, when known, when full again; quotaUntil is 0 if unknown

	estimate estimate
}

// estimate is the pacer's state after an event: a refusal or the end of a pause.
type estimate struct {
	chain  float64 // number of events before; of two equal numbers the earlier event counts
	origin float64 // run that met the event
	event  float64 // time of the event

	interval, limit, refused, margin, caution, burst, cost   float64
	sweep, climbed, count, size                              float64
	pastN, pastSeconds, pastQuiet, pastSure                  float64
	lastGood, current, first                                 float64
	refusals, last, streak, lasted, cycle, hold, slowdown    float64
	began, n, paused, suspect, depth, strikes, cuts, flagged float64
	scatterLast, scatterUp, scatterDown                      float64
}

// Bits of estimate.flagged, in the order in which recordEvent sets them.
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

// eachField calls visit for every number of the update.
func (n *PeerUpdate) eachField(visit func(name string, v *float64)) {
	b := &n.estimate
	for _, f := range [...]struct {
		name string
		v    *float64
	}{
		{"number", &n.number}, {"at_ms", &n.at}, {"lends_ms", &n.lendsUntil}, {"busy", &n.busy}, {"slot_ms", &n.slot},
		{"answers", &n.answers}, {"steps", &n.paceSteps}, {"idle_s", &n.idle},
		{"quota", &n.quota}, {"quota_sent_ms", &n.quotaSent}, {"quota_until_ms", &n.quotaUntil},
		{"chain", &b.chain}, {"origin", &b.origin}, {"event_ms", &b.event},
		{"interval_s", &b.interval}, {"limit", &b.limit}, {"refused", &b.refused}, {"margin", &b.margin},
		{"caution", &b.caution}, {"burst", &b.burst}, {"cost_s", &b.cost}, {"sweep", &b.sweep}, {"climbed", &b.climbed},
		{"count", &b.count}, {"size", &b.size}, {"past", &b.pastN}, {"past_s", &b.pastSeconds},
		{"past_quiet_s", &b.pastQuiet}, {"past_sure", &b.pastSure},
		{"pause_s", &b.lastGood}, {"pausing_s", &b.current}, {"first_pause_s", &b.first},
		{"refusals", &b.refusals}, {"last_ms", &b.last}, {"streak_ms", &b.streak}, {"lasted_s", &b.lasted},
		{"cycle_s", &b.cycle}, {"hold_ms", &b.hold}, {"told", &b.slowdown}, {"began_ms", &b.began}, {"base", &b.n},
		{"paused_s", &b.paused}, {"suspect", &b.suspect}, {"depth", &b.depth}, {"strikes", &b.strikes},
		{"cuts", &b.cuts}, {"flags", &b.flagged},
		{"scatter_last", &b.scatterLast}, {"scatter_up", &b.scatterUp}, {"scatter_down", &b.scatterDown},
	} {
		visit(f.name, f.v)
	}
}

// Fields returns the update as numbers. Zeros are left out.
func (n PeerUpdate) Fields() map[string]float64 {
	fields := make(map[string]float64)
	n.eachField(func(name string, v *float64) {
		if *v != 0 {
			fields[name] = *v
		}
	})
	return fields
}

// ParsePeerUpdate decodes the result of Fields. It returns false if a value is not a number, negative or too
// large. It ignores unknown names.
func ParsePeerUpdate(fields map[string]float64) (PeerUpdate, bool) {
	var n PeerUpdate
	ok := true
	n.eachField(func(name string, v *float64) {
		*v = fields[name]
		if !(*v >= 0 && *v <= maxPeerNumber) {
			ok = false
		}
	})
	if !ok {
		return PeerUpdate{}, false
	}
	return n, true
}

const (
	// maxPeerNumber bounds every number of an update. A float64 represents integers up to it exactly.
	maxPeerNumber = 1 << 53
	// maxPeerPause is the longest pause that one run can impose on another.
	maxPeerPause = longestPause * time.Second
	// maxClockAhead is how far in the future an update may be, for clocks that are badly set.
	maxClockAhead = 5 * time.Second
	// maxEpochAge is the longest epoch that an update can describe.
	maxEpochAge = 48 * time.Hour
	// minPeerShare is the smallest part of a limit that one event of another run leaves.
	minPeerShare = 0.35
	// maxEventGap is how many events a run may be behind and still follow another, unless it is new.
	maxEventGap = 1000
	// maxPeers bounds the runs that are remembered. peerTimeout is when a silent run is forgotten.
	maxPeers, peerTimeout = maxRuns, time.Minute
	// maxPeerAnswers bounds the answers that one update adds.
	maxPeerAnswers = 2000
)

// PeerUpdate returns what the other runs on the quota should know now. It returns false if nothing has changed or
// the quota is not shared. Callers ask a few times per second, and at once after a refusal.
func (g *Governor) PeerUpdate(now time.Time) (PeerUpdate, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.sinceOrigin(now)
	p := &g.pacer
	s := p.turns
	if s == nil || s.Runs == 1 {
		return PeerUpdate{}, false
	}
	s.setClock(at, now)
	wants := p.hasDemand(at)
	if p.inFlight == 0 && at > s.demand+lendAfter && s.lentUntil < at+lendPeriod/2 {
		s.lentUntil = at + lendPeriod
	}
	n := PeerUpdate{
		Share:      s.Share,
		lendsUntil: s.toMillis(s.lentUntil),
		slot:       s.toMillis(p.slot),
		answers:    s.answers,
		paceSteps:  s.paceSteps,
		idle:       p.epoch.idle,
		estimate:   s.latest,
	}
	if s.lentUntil <= at {
		n.lendsUntil = 0
	}
	if wants {
		n.busy = 1
	}
	if n.estimate.chain > 0 {
		n.estimate.hold = s.toMillis(p.hold)
	}
	if p.quota.known {
		n.quota, n.quotaSent, n.quotaUntil = float64(
			max(0, p.quota.remaining),
		), s.toMillis(
			p.quota.sent,
		), s.toMillis(
			p.quota.until,
		)
	}
	if old := s.lastUpdate; old.number > 0 {
		old.number, old.at = 0, 0
		if old == n {
			return PeerUpdate{}, false
		}
	}
	s.number++
	n.number, n.at = s.number, s.toMillis(at)
	s.lastUpdate = n
	return n, true
}

// toMillis converts an instant to milliseconds of the wall clock. toLocal converts back.
func (s *turnSchedule) toMillis(at time.Duration) float64 { return max(0, float64(s.wall(at))/1e6) }

func (s *turnSchedule) toLocal(ms float64) time.Duration {
	return time.Duration(int64(ms*1e6) - s.wallZero)
}

// clampLocal converts ms to an instant between low and high.
func (s *turnSchedule) clampLocal(ms float64, low, high time.Duration) time.Duration {
	return min(max(s.toLocal(ms), low), high)
}

// recordChange records what the last response changed, for the other runs.
func (p *pacer) recordChange(at time.Duration) {
	s := p.turns
	if p.lastRefusal != s.refused || p.refusals != s.streak {
		p.recordEvent(at)
		return
	}
	if p.epoch.n > s.seen {
		s.answers += p.epoch.n - s.seen
		if p.limits.climbed != s.climbed || p.interval != s.pace {
			s.paceSteps++
		}
	}
	s.rememberState(p)
}

// rememberState stores the current state, to detect what the next response changes.
func (s *turnSchedule) rememberState(p *pacer) {
	s.seen, s.climbed, s.pace = p.epoch.n, p.limits.climbed, p.interval
	s.refused, s.streak = p.lastRefusal, p.refusals
}

// recordEvent records a refusal, or the end of a row of refusals, that this run met.
func (p *pacer) recordEvent(at time.Duration) {
	s := p.turns
	chain := s.latest.chain + 1
	m, c := &p.limits, &p.pauses
	b := estimate{
		chain:       chain,
		origin:      s.id,
		event:       s.toMillis(at),
		interval:    p.interval,
		limit:       m.limit,
		refused:     m.refused,
		margin:      m.margin,
		caution:     m.caution,
		burst:       m.burst,
		cost:        m.cost,
		sweep:       m.climbLength,
		climbed:     m.climbed,
		count:       m.count,
		size:        m.size,
		pastN:       m.past.n,
		pastSeconds: m.past.seconds,
		pastQuiet:   m.past.quiet,
		pastSure:    m.past.sure,
		lastGood:    c.lastGood,
		current:     c.current,
		first:       c.first,
		refusals: float64(
			p.refusals,
		),
		last:        s.toMillis(p.lastRefusal),
		streak:      s.toMillis(p.streakBegan),
		lasted:      max(0, p.lasted),
		cycle:       max(0, p.cycle),
		hold:        s.toMillis(p.hold),
		began:       s.toMillis(p.epoch.began),
		n:           p.epoch.n,
		paused:      max(0, p.epoch.paused),
		suspect:     p.cutRate,
		depth:       p.spare.depth,
		strikes:     float64(p.gaps.strikes),
		cuts:        float64(p.cuts),
		scatterLast: m.random.last,
		scatterUp:   m.random.up,
		scatterDown: m.random.down,
	}
	if p.everSlowed {
		b.slowdown = 1
		if p.lastBackoff.HasRetryAfter {
			b.slowdown = 2
		}
	}
	for bit, set := range [...]bool{
		m.briefPauses, m.window, c.brief, c.strict, c.trying, c.settled, p.repaying,
		p.gaps.known, p.gaps.trial, p.gaps.ruledOut,
		m.random.isRandom,
	} {
		if set {
			b.flagged += float64(int(1) << bit)
		}
	}
	s.latest, s.answers, s.paceSteps = b, 0, 0
	s.rememberState(p)
}
