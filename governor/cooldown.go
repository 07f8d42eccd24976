package governor

const (
	// firstPause follows the first refusal that names no time, but no more than
	// patience intervals. A bucket would need less, a window or a ban more.
	// The very first one is brief, because after that a bucket shows its rate; if it is
	// not enough, the next one outlasts what the brief one has made of a ban, within
	// twice the patience.
	firstPause, patience, briefPause, secondPause = 15, 150, 4, 60
	// lengthen multiplies a pause that was too short. A ban that each request
	// doubles is left behind only by growing faster than it. Below firstPause a window is
	// likelier, and lengthenBrief does: what it overshoots by looks like a lower limit.
	lengthen, lengthenBrief = 4, 2
	// longestPause bounds a pause that nobody asked for: a quarter of an hour, so
	// that the end of an outage is noticed within that.
	longestPause = 900
	// outage is how many refusals in a row tell of a provider that is down rather
	// than of a pause that is too short. They teach nothing about pauses.
	outage = 5
	// longFlow is how many requests make a flow long. A pause that costs little, below
	// firstPause, is put to the trial by a shorter one.
	longFlow, shortFlow = 300, 60
	// shorten multiplies a pause that was long enough at once.
	shorten = 0.6
)

// cooldown finds how long to keep quiet after a refusal that names no time. Too
// short is cheap with a bucket or a window and dear with a ban, and from outside
// they look alike. So a pause that had to be searched is kept as it is, until one
// trial in a settled flow tells whether a brief one does.
type cooldown struct {
	good    float64 // pause that worked last, in seconds; zero before the first
	current float64
	first   float64 // what an unknown provider would be given
	brief   bool    // short pauses work: keep shortening
	strict  bool    // a short pause made things worse: never shorten
	trying  bool
	settled bool // the refusal ended a flow long enough to try a brief pause
}

// settle notes the flow that a refusal ended: so many requests in so many seconds.
func (c *cooldown) settle(n, active float64) {
	c.settled = n >= longFlow && active > 2*c.good || n >= shortFlow && c.good < firstPause
}

// pause is how long to keep quiet after the refusal that is the nth in a row, at
// a pace of the given interval.
func (c *cooldown) pause(refusals int, interval float64) float64 {
	next, first := c.good, min(firstPause, patience*interval)
	switch {
	case refusals > 1 && c.trying:
		c.trying, c.strict, c.brief = false, true, false
		if next = c.good; c.good >= firstPause {
			next = 2.1 * c.good // a ban may have been lengthened
		}
	case refusals > 1:
		c.brief = false
		by := float64(lengthen)
		if c.current < firstPause {
			by = lengthenBrief
		}
		next = max(c.current*by, first/2)
		if c.good == 0 && refusals == 2 {
			next = max(next, min(secondPause, 2*patience*interval))
		}
	case c.good == 0:
		next = min(first, max(briefPause, 5*interval))
	case !c.brief && !c.strict && c.settled && c.good > 5*interval:
		c.trying = true
		next = max(3*interval, c.good/8)
	}
	c.first = max(first, interval)
	c.current = min(max(next, interval), longestPause)
	return c.current
}

// worked remembers a pause after which the provider answered, and reports it
// with whether brief ones do. What lasted longer than any pause of ours was told, and is
// for a new allowance of the hour or the day: no pace would have spared it.
func (c *cooldown) worked(pause float64, refusals int) (quiet float64, brief bool) {
	if refusals == 1 && (c.trying || pause <= c.first*1.01) {
		c.brief = true
	}
	if c.trying = false; refusals >= outage || pause > longestPause {
		return 0, c.brief
	}
	c.good = pause
	if refusals == 1 && c.brief {
		c.good = pause * shorten
	}
	return pause, c.brief
}
