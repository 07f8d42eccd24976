package ratesim

import (
	"math"
	"slices"
	"time"
)

// PenaltyBox bans whoever crosses a limit. Each request within the ban makes it
// twice as long and starts it anew; long good conduct forgives.
type PenaltyBox struct {
	Limiter
	Ban, Longest time.Duration

	length, until, offence time.Duration
}

// forgiving is after how many of its longest bans a box forgets.
const forgiving = 10

// Take implements Limiter.
func (p *PenaltyBox) Take(now time.Duration) Ruling {
	if now < p.until {
		return p.punish(now, 2*p.length)
	}
	r := p.Limiter.Take(now)
	if r.Pass {
		return r
	}
	if now-p.offence > forgiving*p.Longest {
		p.length = 0
	}
	return p.punish(now, max(p.length, p.Ban))
}

func (p *PenaltyBox) punish(now, length time.Duration) Ruling {
	p.length = min(length, p.Longest)
	p.until, p.offence = now+p.length, now
	return Ruling{Wait: p.length}
}

// Free implements Limiter.
func (p *PenaltyBox) Free(now time.Duration) time.Duration {
	return p.Limiter.Free(max(now, p.until))
}

// GrowingBan bans whoever crosses a limit, each time By times as long as the time before.
// Requests within the ban are refused and change nothing. For every Forgets of good
// conduct one offence is forgotten.
type GrowingBan struct {
	Limiter
	Ban, Longest, Forgets time.Duration
	By                    float64

	offences int
	until    time.Duration
	counted  time.Duration // up to when good conduct is reckoned
}

// Take implements Limiter.
func (g *GrowingBan) Take(now time.Duration) Ruling {
	if now < g.until {
		return Ruling{Wait: g.until - now}
	}
	r := g.Limiter.Take(now)
	if r.Pass {
		return r
	}
	good := max(0, int((now-g.counted)/g.Forgets))
	g.offences = max(0, g.offences-good)
	ban := seconds(min(g.Ban.Seconds()*math.Pow(g.By, float64(g.offences)), g.Longest.Seconds()))
	g.offences++
	g.until, g.counted = now+ban, now+ban
	return Ruling{Wait: ban}
}

// Free implements Limiter.
func (g *GrowingBan) Free(now time.Duration) time.Duration {
	return g.Limiter.Free(max(now, g.until))
}

// Concurrency refuses what comes while too many requests are in progress.
type Concurrency struct {
	Most    int
	Nominal float64 // the rate that the usual answering time allows

	ends []time.Duration // of the requests in progress
}

// Take implements Limiter.
func (c *Concurrency) Take(now time.Duration) Ruling {
	c.ends = slices.DeleteFunc(c.ends, func(end time.Duration) bool { return end <= now })
	if len(c.ends) < c.Most {
		return Ruling{Pass: true}
	}
	return Ruling{Wait: slices.Min(c.ends) - now + tick}
}

// Occupy implements occupied.
func (c *Concurrency) Occupy(until time.Duration) { c.ends = append(c.ends, until) }

// Free implements Limiter.
func (c *Concurrency) Free(now time.Duration) time.Duration {
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
	return later[len(later)-c.Most] + tick
}

// Rate implements Limiter.
func (c *Concurrency) Rate(time.Duration) float64 { return c.Nominal }
