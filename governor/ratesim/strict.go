package ratesim

import (
	"math"
	"slices"
	"time"
)

// PenaltyBox bans a client that crosses a limit. Each request within the ban doubles and restarts it; long good
// conduct ends it.
type PenaltyBox struct {
	Limiter
	Ban, Longest time.Duration

	length, until, offence time.Duration
}

// forgiveAfterBans is after how many of its longest bans a box forgets.
const forgiveAfterBans = 10

// Admit implements Limiter.
func (p *PenaltyBox) Admit(now time.Duration) Ruling {
	if now < p.until {
		return p.extendBan(now, 2*p.length)
	}
	r := p.Limiter.Admit(now)
	if r.Pass {
		return r
	}
	if now-p.offence > forgiveAfterBans*p.Longest {
		p.length = 0
	}
	return p.extendBan(now, max(p.length, p.Ban))
}

func (p *PenaltyBox) extendBan(now, length time.Duration) Ruling {
	p.length = min(length, p.Longest)
	p.until, p.offence = now+p.length, now
	return Ruling{Wait: p.length}
}

// NextAdmission implements Limiter.
func (p *PenaltyBox) NextAdmission(now time.Duration) time.Duration {
	return p.Limiter.NextAdmission(max(now, p.until))
}

// GrowingBan bans a client that crosses a limit, each time By times as long as before. Requests within the ban are
// refused and change nothing. Each period Forgets of good conduct removes one offence.
type GrowingBan struct {
	Limiter
	Ban, Longest, Forgets time.Duration
	By                    float64

	offences int
	until    time.Duration
	counted  time.Duration // up to when good conduct is reckoned
}

// Admit implements Limiter.
func (g *GrowingBan) Admit(now time.Duration) Ruling {
	if now < g.until {
		return Ruling{Wait: g.until - now}
	}
	r := g.Limiter.Admit(now)
	if r.Pass {
		return r
	}
	good := max(0, int((now-g.counted)/g.Forgets))
	g.offences = max(0, g.offences-good)
	ban := durationOf(min(g.Ban.Seconds()*math.Pow(g.By, float64(g.offences)), g.Longest.Seconds()))
	g.offences++
	g.until, g.counted = now+ban, now+ban
	return Ruling{Wait: ban}
}

// NextAdmission implements Limiter.
func (g *GrowingBan) NextAdmission(now time.Duration) time.Duration {
	return g.Limiter.NextAdmission(max(now, g.until))
}

// Concurrency refuses what comes while too many requests are in progress.
type Concurrency struct {
	Most    int
	Nominal float64 // the rate that the usual answering time allows

	ends []time.Duration // of the requests in progress
}

// Admit implements Limiter.
func (c *Concurrency) Admit(now time.Duration) Ruling {
	c.ends = slices.DeleteFunc(c.ends, func(end time.Duration) bool { return end <= now })
	if len(c.ends) < c.Most {
		return Ruling{Pass: true}
	}
	return Ruling{Wait: slices.Min(c.ends) - now + roundingMargin}
}

// Occupy implements occupied.
func (c *Concurrency) Occupy(until time.Duration) { c.ends = append(c.ends, until) }

// NextAdmission implements Limiter.
func (c *Concurrency) NextAdmission(now time.Duration) time.Duration {
	var later []time.Duration
	for _, end := range c.ends {
		if end > now {
			later = append(later, end)
		}
	}
	if len(later) < c.Most {
		return now
	}
	slices.Sort(later)
	return later[len(later)-c.Most] + roundingMargin
}

// RateAt implements Limiter.
func (c *Concurrency) RateAt(time.Duration) float64 { return c.Nominal }
