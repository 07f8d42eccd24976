package governor

import (
	"math"
	"time"
)

// MaxLearnedAge is the age up to which a learned rate is used. Limits change, and a cold start costs only
// seconds.
const MaxLearnedAge = 6 * time.Hour

// Learned is the state that one run passes to the next.
type Learned struct {
	// Interval is an interval that the provider is known to accept.
	Interval time.Duration
	Recorded time.Time
	// Limit is the learned limit in requests per second, zero if the provider never refused. Refused is the rate
	// at the last refusal.
	Limit, Refused float64
	// Sweep is the number of successes over which the rate climbs from Limit to Refused.
	Sweep float64
	// Pause is how long to pause after a refusal without a Retry-After. Cost is the pause that the last refusal
	// caused.
	Pause, Cost time.Duration
	// Margin is how far below the limit a climb starts. Burst is how many requests in a row the limit accepts.
	Margin, Burst float64
	// Brief means that short pauses work. Strict means that they make things worse.
	Brief, Strict bool
	// Depth is how many requests a rested provider accepts at once. Spaced means that the provider limits the
	// distance between two requests.
	Depth  float64
	Spaced bool
	// Scatter is how much the rates at refusals differ, if refusals are random.
	Scatter float64
}

// shortestWarmClimb is the shortest climb of a run that starts with a known limit and needs no search.
const shortestWarmClimb = 1000

// maxLearnedNumber is the highest rate that a Learned may contain, and the bound of its other numbers.
const maxLearnedNumber = 1e6

// validNumber returns v if it is positive and at most most, and zero otherwise.
func validNumber(v, most float64) float64 {
	if v > 0 && v <= most {
		return v
	}
	return 0
}

// restore returns the estimator and the pause search. It corrects members that contradict each other.
func (l *Learned) restore() (limitEstimator, pauseSearch) {
	m := limitEstimator{
		limit: validNumber(
			l.Limit,
			maxLearnedNumber,
		),
		refused:     validNumber(l.Refused, maxLearnedNumber),
		burst:       validNumber(l.Burst, maxLearnedNumber),
		cost:        inSeconds(max(0, l.Cost)),
		briefPauses: l.Brief,
		margin:      firstMargin,
	}
	if l.Margin > 0 {
		m.margin = min(max(l.Margin, narrowestMargin), widestMargin)
	}
	switch {
	case m.limit == 0:
	case l.Scatter > 0:
		m.random.restore(l.Scatter)
		m.acceptRandom(m.limit / (1 - randomStep))
	default:
		m.refused = max(m.refused, m.limit*1.002)
		m.climbLength = boundByTime(
			min(max(validNumber(l.Sweep, maxLearnedNumber), shortestWarmClimb), longestCostly),
			m.refused,
		)
		m.caution = m.margin // the less certain the limit, the longer the restored pace is kept
	}
	return m, pauseSearch{
		lastGood: min(inSeconds(max(0, l.Pause)), longestPause),
		brief:    l.Brief,
		strict:   l.Strict && !l.Brief,
	}
}

// store copies the estimates into l.
func (l *Learned) store(m limitEstimator, c pauseSearch) {
	l.Limit, l.Refused, l.Sweep = m.limit, m.refused, m.climbLength
	l.Margin, l.Burst, l.Cost = m.margin, m.burst, toDuration(m.cost)
	l.Pause, l.Brief, l.Strict = toDuration(c.lastGood), c.brief, c.strict
	if m.random.isRandom {
		l.Scatter = m.random.width()
	}
}

// Names of the numbers that Learned.Fields returns.
const (
	FieldInterval = "interval_ms"
	FieldRecorded = "recorded_at_ms"
	FieldLimit    = "limit_per_min"
	FieldRefused  = "refused_per_min"
	FieldSweep    = "sweep"
	FieldPause    = "pause_ms"
	FieldCost     = "cost_ms"
	FieldMargin   = "margin"
	FieldBurst    = "burst"
	FieldQuiet    = "quiet" // 1: Brief, 2: Strict
	FieldDepth    = "depth"
	FieldSpaced   = "spaced" // 1: Spaced
	FieldScatter  = "scatter"
)

// Fields returns the learned state as numbers, so that a program can store it between runs.
func (l Learned) Fields() map[string]float64 {
	ms := func(d time.Duration) float64 { return math.Round(float64(d)/float64(time.Microsecond)) / 1000 }
	quiet := 0.0
	switch {
	case l.Brief:
		quiet = 1
	case l.Strict:
		quiet = 2
	}
	spaced := 0.0
	if l.Spaced {
		spaced = 1
	}
	return map[string]float64{
		FieldDepth: l.Depth, FieldSpaced: spaced, FieldScatter: l.Scatter,
		FieldMargin: l.Margin, FieldBurst: l.Burst, FieldQuiet: quiet,
		FieldInterval: ms(l.Interval), FieldRecorded: float64(l.Recorded.UnixMilli()),
		FieldLimit: l.Limit * 60, FieldRefused: l.Refused * 60, FieldSweep: l.Sweep,
		FieldPause: ms(l.Pause), FieldCost: ms(l.Cost),
	}
}

// RestoreLearned reads the result of Fields. It returns false if the interval or its time is missing, malformed,
// not positive, older than MaxLearnedAge, or more than five minutes in the future. It ignores other members that
// are malformed.
func RestoreLearned(fields map[string]float64, now time.Time) (Learned, bool) {
	positive := func(name string, most float64) float64 { return validNumber(fields[name], most) }
	const year = 365 * 24 * 3600 * 1000 // ms
	interval := positive(FieldInterval, year)
	if interval < 1e-3 { // shorter than a microsecond
		interval = 0
	}
	recorded := positive(FieldRecorded, math.MaxInt64/2)
	if interval == 0 || recorded == 0 {
		return Learned{}, false
	}
	at := time.UnixMilli(int64(recorded))
	const skew = 5 * time.Minute
	if age := now.Sub(at); age > MaxLearnedAge || age < -skew {
		return Learned{}, false
	}
	duration := func(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
	return Learned{
		Interval: duration(interval),
		Recorded: at,
		Limit:    positive(FieldLimit, 60*maxLearnedNumber) / 60,
		Refused:  positive(FieldRefused, 60*maxLearnedNumber) / 60,
		Margin:   positive(FieldMargin, 1),
		Burst:    positive(FieldBurst, maxLearnedNumber),
		Brief:    fields[FieldQuiet] == 1,
		Strict:   fields[FieldQuiet] == 2,
		Depth: positive(
			FieldDepth,
			maxLearnedNumber,
		),
		Spaced:  fields[FieldSpaced] == 1,
		Scatter: positive(FieldScatter, maxScatter),
		Sweep: positive(
			FieldSweep,
			maxLearnedNumber,
		),
		Pause: duration(positive(FieldPause, year)),
		Cost:  duration(positive(FieldCost, year)),
	}, true
}
