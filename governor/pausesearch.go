package governor

const (
	// firstPause, in seconds, follows the first refusal without a Retry-After, but at most patience intervals. A
	// bucket needs less, a window or a ban more. The first pause of all is briefPause, after which a bucket shows
	// its rate. If that is not enough, the next pause outlasts a ban that the brief pause may have extended,
	// within twice the patience.
	firstPause, patience, briefPause, secondPause = 15, 150, 4, 60
	// lengthenFactor multiplies a pause that was too short. If each request doubles a ban, only a pause that
	// grows faster ends it. Below firstPause a window is more likely, and lengthenBrief is enough: a pause that
	// is too long looks like a lower limit.
	lengthenFactor, lengthenBrief = 4, 2
	// longestPause bounds a pause that the provider did not ask for. The end of an outage is noticed within a
	// quarter of an hour.
	longestPause = 900
	// outageRefusals in a row show that the provider is down. They teach nothing about pauses.
	outageRefusals = 5
	// longFlow requests make a flow long. After shortFlow requests, a pause below firstPause is already tried
	// shorter, because it costs little.
	longFlow, shortFlow = 300, 60
	// shortenFactor multiplies a pause that was long enough at once.
	shortenFactor = 0.6
)

// pauseSearch finds how long to pause after a refusal without a Retry-After. A pause that is too short is cheap
// with a bucket or a window and expensive with a ban, and they look alike from outside. So a pause that had to be
// searched is kept until one trial after a long flow shows whether a short pause is enough.
type pauseSearch struct {
	lastGood float64 // last pause that worked, in seconds; zero before the first
	current  float64
	first    float64 // pause for an unknown provider
	brief    bool    // short pauses work: keep shortening
	strict   bool    // a short pause made things worse: never shorten
	trying   bool
	settled  bool // the refused flow was long enough to try a short pause
}

// recordFlow stores whether the flow of n requests in active seconds was long enough to try a short pause.
func (c *pauseSearch) recordFlow(n, active float64) {
	c.settled = n >= longFlow && active > 2*c.lastGood || n >= shortFlow && c.lastGood < firstPause
}

// nextPause returns how long to pause after a number of refusals in a row.
func (c *pauseSearch) nextPause(refusals int, interval float64) float64 {
	next, first := c.lastGood, min(firstPause, patience*interval)
	switch {
	case refusals > 1 && c.trying:
		c.trying, c.strict, c.brief = false, true, false
		if next = c.lastGood; c.lastGood >= firstPause {
			next = 2.1 * c.lastGood // the ban may have been extended
		}
	case refusals > 1:
		c.brief = false
		by := float64(lengthenFactor)
		if c.current < firstPause {
			by = lengthenBrief
		}
		next = max(c.current*by, first/2)
		if c.lastGood == 0 && refusals == 2 {
			next = max(next, min(secondPause, 2*patience*interval))
		}
	case c.lastGood == 0:
		next = min(first, max(briefPause, 5*interval))
	case !c.brief && !c.strict && c.settled && c.lastGood > 5*interval:
		c.trying = true
		next = max(3*interval, c.lastGood/8)
	}
	c.first = max(first, interval)
	c.current = min(max(next, interval), longestPause)
	return c.current
}

// recordSuccess stores a pause that worked. It returns the pause and whether short ones are enough. A pause
// longer than longestPause was announced by the provider, typically for a new hourly or daily quota. No pace
// avoids it, so it counts as zero.
func (c *pauseSearch) recordSuccess(pause float64, refusals int) (quiet float64, brief bool) {
	if refusals == 1 && (c.trying || pause <= c.first*1.01) {
		c.brief = true
	}
	if c.trying = false; refusals >= outageRefusals || pause > longestPause {
		return 0, c.brief
	}
	c.lastGood = pause
	if refusals == 1 && c.brief {
		c.lastGood = pause * shortenFactor
	}
	return pause, c.brief
}
