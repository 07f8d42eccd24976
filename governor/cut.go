package governor

import "time"

const (
	// cutsInARow is how many broken connections in a row tell of a limit, if they come at
	// nearLimit of a limit that is known or of the rate at which they came before. Where
	// they came before, one alone tells of it at nearCut of that rate within longFlow
	// requests, and at nearLimit of a limit if it is the second within cutsNear.
	cutsInARow         = 2
	nearLimit, nearCut = 0.8, 0.35
	cutsNear           = 100
	// cutQuiet is how many intervals of quiet follow at least, up to longestCutQuiet seconds: a
	// quiet that is too short breaks connections again, and a few of those open the circuit.
	cutQuiet, longestCutQuiet = 40, 4
)

// cut learns from a connection that broke. One may break for any reason, and where
// nothing was delivered before the provider is down. Two in a row out of a flow are a
// reason to slow down. One that comes back soon after, with the pace, is a refusal, and one
// that follows a refusal says that the quiet was too short.
func (p *pacer) cut(at, sent time.Duration, o *Outcome) {
	rate := p.inUse()
	p.cuts++
	near := p.sinceCut > 0 && p.epoch.n-p.sinceCut < cutsNear
	p.sinceCut = p.epoch.n
	again := p.refusals > 0
	close := p.memory.limit > 0 && rate > nearLimit*p.memory.limit
	back := p.suspect > 0 && (rate > nearCut*p.suspect && p.epoch.n < longFlow || near && close)
	if !again && !back && (p.cuts < cutsInARow || p.memory.limit == 0 && p.epoch.n < few) {
		return
	}
	sure := back || close || p.suspect > 0 && rate > nearLimit*p.suspect
	p.suspect, p.cuts, p.sinceCut = max(p.suspect, rate), 0, 0
	p.refuse(at, sent, o, sure)
	p.hold = max(p.hold, at+span(min(cutQuiet/rate, longestCutQuiet)))
	p.slot = p.hold - span(p.interval)
}
