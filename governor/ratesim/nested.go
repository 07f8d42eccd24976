package ratesim

import (
	"math/rand/v2"
	"time"
)

// FirstWindow counts requests from the first one on that comes after the last window
// has ended.
type FirstWindow struct {
	Limit  int
	Window time.Duration

	ends  time.Duration
	count int
}

// Admit implements Limiter.
func (w *FirstWindow) Admit(now time.Duration) Ruling {
	if now >= w.ends {
		w.ends, w.count = now+w.Window, 0
	}
	pass := w.count < w.Limit
	if pass {
		w.count++
	}
	left := w.ends - now
	return Ruling{Pass: pass, Wait: left, Limit: w.Limit, Left: w.Limit - w.count, Reset: left}
}

// NextAdmission implements Limiter.
func (w *FirstWindow) NextAdmission(now time.Duration) time.Duration {
	if now >= w.ends || w.count < w.Limit {
		return now
	}
	return w.ends
}

// RateAt implements Limiter.
func (w *FirstWindow) RateAt(time.Duration) float64 { return float64(w.Limit) / w.Window.Seconds() }

// NestedLimits is a short limit within a long one. What either refuses counts for neither.
type NestedLimits struct{ Short, Long Limiter }

// Admit implements Limiter.
func (n *NestedLimits) Admit(now time.Duration) Ruling {
	if free := n.NextAdmission(now); free > now {
		return Ruling{Wait: free - now}
	}
	n.Short.Admit(now)
	n.Long.Admit(now)
	return Ruling{Pass: true}
}

// NextAdmission implements Limiter.
func (n *NestedLimits) NextAdmission(now time.Duration) time.Duration {
	for {
		free := n.Long.NextAdmission(n.Short.NextAdmission(now))
		if free == now {
			return now
		}
		now = free
	}
}

// RateAt implements Limiter.
func (n *NestedLimits) RateAt(now time.Duration) float64 {
	return min(n.Short.RateAt(now), n.Long.RateAt(now))
}

// CostlyBucket is a bucket from which a request takes one token or several.
type CostlyBucket struct {
	TokenBucket
	Most int

	random *rand.Rand
	next   int // tokens that the next request takes
}

// NewCostlyBucket returns a bucket with requests that cost up to most tokens. The seed determines the costs.
func NewCostlyBucket(b TokenBucket, most int, seed uint64) *CostlyBucket {
	c := &CostlyBucket{TokenBucket: b, Most: most, random: rand.New(rand.NewPCG(seed, 9))}
	c.next = 1 + c.random.IntN(most)
	return c
}

// requestShortfall returns how many tokens the next request lacks at a time.
func (c *CostlyBucket) requestShortfall(now time.Duration) float64 {
	lack := c.missingTokens(now) + float64(c.next) - c.Burst
	if lack < fractionTolerance {
		return 0
	}
	return lack
}

// Admit implements Limiter.
func (c *CostlyBucket) Admit(now time.Duration) Ruling {
	if lack := c.requestShortfall(now); lack > 0 {
		return Ruling{Wait: durationOf(lack/c.RateAt(now)) + roundingMargin}
	}
	c.drainTokens(now, float64(c.next))
	c.next = 1 + c.random.IntN(c.Most)
	return Ruling{Pass: true}
}

// NextAdmission implements Limiter.
func (c *CostlyBucket) NextAdmission(now time.Duration) time.Duration {
	for {
		lack := c.requestShortfall(now)
		if lack == 0 {
			return now
		}
		now += durationOf(lack/c.PerSecond) + roundingMargin
	}
}
