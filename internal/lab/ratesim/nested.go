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

// Take implements Limiter.
func (w *FirstWindow) Take(now time.Duration) Ruling {
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

// Free implements Limiter.
func (w *FirstWindow) Free(now time.Duration) time.Duration {
	if now >= w.ends || w.count < w.Limit {
		return now
	}
	return w.ends
}

// Rate implements Limiter.
func (w *FirstWindow) Rate(time.Duration) float64 { return float64(w.Limit) / w.Window.Seconds() }

// Nested is a short limit within a long one. What either refuses counts for neither.
type Nested struct{ Short, Long Limiter }

// Take implements Limiter.
func (n *Nested) Take(now time.Duration) Ruling {
	if free := n.Free(now); free > now {
		return Ruling{Wait: free - now}
	}
	n.Short.Take(now)
	n.Long.Take(now)
	return Ruling{Pass: true}
}

// Free implements Limiter.
func (n *Nested) Free(now time.Duration) time.Duration {
	for {
		free := n.Long.Free(n.Short.Free(now))
		if free == now {
			return now
		}
		now = free
	}
}

// Rate implements Limiter.
func (n *Nested) Rate(now time.Duration) float64 { return min(n.Short.Rate(now), n.Long.Rate(now)) }

// Costly is a bucket from which a request takes one token or several.
type Costly struct {
	Bucket
	Most int

	random *rand.Rand
	next   int // tokens that the next request takes
}

// NewCostly makes a bucket whose requests cost up to most tokens, as a seed decides.
func NewCostly(b Bucket, most int, seed uint64) *Costly {
	c := &Costly{Bucket: b, Most: most, random: rand.New(rand.NewPCG(seed, 9))}
	c.next = 1 + c.random.IntN(most)
	return c
}

// lack is how many tokens the next request lacks at a time.
func (c *Costly) lack(now time.Duration) float64 {
	lack := c.missing(now) + float64(c.next) - c.Burst
	if lack < roundoff {
		return 0
	}
	return lack
}

// Take implements Limiter.
func (c *Costly) Take(now time.Duration) Ruling {
	if lack := c.lack(now); lack > 0 {
		return Ruling{Wait: seconds(lack/c.Rate(now)) + tick}
	}
	c.drain(now, float64(c.next))
	c.next = 1 + c.random.IntN(c.Most)
	return Ruling{Pass: true}
}

// Free implements Limiter.
func (c *Costly) Free(now time.Duration) time.Duration {
	for {
		lack := c.lack(now)
		if lack == 0 {
			return now
		}
		now += seconds(lack/c.PerSecond) + tick
	}
}
