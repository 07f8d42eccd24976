package governor

import "time"

const (
	// Two broken connections in a row (cutsInARow) show a limit, if they happen at nearLimit of a known limit or
	// of the rate at which connections broke before. After that, one is enough at nearCutRate of that rate within
	// longFlow requests. So is one at nearLimit of the limit, if another broke within the last closeCuts
	// requests.
	cutsInARow             = 2
	nearLimit, nearCutRate = 0.8, 0.35
	closeCuts              = 100
	// After a broken connection the pacer pauses for at least cutPause intervals, up to longestCutPause seconds.
	// A pause that is too short breaks more connections, and a few of those open the circuit.
	cutPause, longestCutPause = 40, 4
)

// observeCut learns from a broken connection. A single one may have any cause, and if nothing was delivered
// before, the provider is down. Two in a row within a flow are a reason to slow down. Another one soon afterwards
// at the same pace counts as a refusal. One directly after a refusal shows that the pause was too short.
func (p *pacer) observeCut(at, sent time.Duration, o *Outcome) {
	rate := p.rateInUse()
	p.cuts++
	near := p.sinceCut > 0 && p.epoch.n-p.sinceCut < closeCuts
	p.sinceCut = p.epoch.n
	again := p.refusals > 0
	close := p.limits.limit > 0 && rate > nearLimit*p.limits.limit
	back := p.cutRate > 0 && (rate > nearCutRate*p.cutRate && p.epoch.n < longFlow || near && close)
	if !again && !back && (p.cuts < cutsInARow || p.limits.limit == 0 && p.epoch.n < fewAnswers) {
		return
	}
	sure := back || close || p.cutRate > 0 && rate > nearLimit*p.cutRate
	p.cutRate, p.cuts, p.sinceCut = max(p.cutRate, rate), 0, 0
	p.refuse(at, sent, o, sure)
	p.hold = max(p.hold, at+toDuration(min(cutPause/rate, longestCutPause)))
	p.slot = p.hold - toDuration(p.interval)
}
