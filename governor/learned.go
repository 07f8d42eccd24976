package governor

import (
	"math"
	"time"
)

// Stale is the age up to which a learned rate is trusted, inclusive. Limits
// change, and a cold start costs seconds.
const Stale = 6 * time.Hour

// Learned is what one run hands to the next.
type Learned struct {
	// Interval is the pace that the provider is known to bear.
	Interval time.Duration
	Recorded time.Time
	// Limit is the learned limit in requests per second; zero when the provider
	// never refused. Refused is the rate that it refused at.
	Limit, Refused float64
	// Sweep is over how many successes the pace climbs from one to the other.
	Sweep float64
	// Pause is how long to keep quiet after a refusal, Cost what a refusal cost.
	Pause, Cost time.Duration
	// Margin and Burst shape the climb: how far below the limit it starts, and how
	// many requests in a row the limit lets pass.
	Margin, Burst float64
	// Brief says that short pauses were found to work, Strict that they were found
	// to make things worse.
	Brief, Strict bool
	// Depth is how many requests the provider gives at once, ahead of its limit, when it
	// was left alone. Spaced says that it counts the distance between two requests.
	Depth  float64
	Spaced bool
	// Scatter is how much the rates differ at which it refuses, where it does so by chance.
	Scatter float64
}

// calmSweep is the shortest climb of a run that starts with a known limit: it
// has no need to search.
const calmSweep = 1000

// fastest is the largest rate, and a bound of every other number, that a
// Learned is believed.
const fastest = 1e6

// sane is a number within its bounds, and zero when it is out of them.
func sane(v, most float64) float64 {
	if v > 0 && v <= most {
		return v
	}
	return 0
}

// restore unpacks the pacer's memory. Members that contradict each other are
// bent so that they do not.
func (l *Learned) restore() (memory, cooldown) {
	m := memory{
		limit: sane(l.Limit, fastest), refused: sane(l.Refused, fastest), burst: sane(l.Burst, fastest),
		cost: seconds(max(0, l.Cost)), brief: l.Brief, margin: firstMargin,
	}
	if l.Margin > 0 {
		m.margin = min(max(l.Margin, leastMargin), mostMargin)
	}
	switch {
	case m.limit == 0:
	case l.Scatter > 0:
		m.scatter.restore(l.Scatter)
		m.chance(m.limit / (1 - chanceStep))
	default:
		m.refused = max(m.refused, m.limit*1.002)
		m.sweep = timely(min(max(sane(l.Sweep, fastest), calmSweep), longestCostly), m.refused)
		m.caution = m.margin // the harder it was to pin down, the longer the restored pace is held
	}
	return m, cooldown{good: min(seconds(max(0, l.Pause)), longestPause), brief: l.Brief, strict: l.Strict && !l.Brief}
}

// keep packs it.
func (l *Learned) keep(m memory, c cooldown) {
	l.Limit, l.Refused, l.Sweep = m.limit, m.refused, m.sweep
	l.Margin, l.Burst, l.Cost = m.margin, m.burst, span(m.cost)
	l.Pause, l.Brief, l.Strict = span(c.good), c.brief, c.strict
	if m.scatter.chance {
		l.Scatter = m.scatter.width()
	}
}

// The names of the numbers that a Learned is kept as.
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

// Fields spells what was learned as numbers, to be kept wherever a program keeps
// things between two runs.
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

// Restore reads what Fields wrote. It yields nothing when the interval or its
// time is absent, malformed, not positive, older than Stale, or from the future
// by more than clocks differ.
// The other members are advice: a malformed one is left out.
func Restore(fields map[string]float64, now time.Time) (Learned, bool) {
	positive := func(name string, most float64) float64 { return sane(fields[name], most) }
	const year = 365 * 24 * 3600 * 1000 // ms
	interval := positive(FieldInterval, year)
	if interval < 1e-3 { // below a microsecond is no pace
		interval = 0
	}
	recorded := positive(FieldRecorded, math.MaxInt64/2)
	if interval == 0 || recorded == 0 {
		return Learned{}, false
	}
	at := time.UnixMilli(int64(recorded))
	const skew = 5 * time.Minute
	if age := now.Sub(at); age > Stale || age < -skew {
		return Learned{}, false
	}
	duration := func(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
	return Learned{
		Interval: duration(interval), Recorded: at,
		Limit: positive(FieldLimit, 60*fastest) / 60, Refused: positive(FieldRefused, 60*fastest) / 60,
		Margin: positive(FieldMargin, 1), Burst: positive(FieldBurst, fastest),
		Brief: fields[FieldQuiet] == 1, Strict: fields[FieldQuiet] == 2,
		Depth: positive(FieldDepth, fastest), Spaced: fields[FieldSpaced] == 1, Scatter: positive(FieldScatter, furthest),
		Sweep: positive(FieldSweep, fastest), Pause: duration(positive(FieldPause, year)), Cost: duration(positive(FieldCost, year)),
	}, true
}
