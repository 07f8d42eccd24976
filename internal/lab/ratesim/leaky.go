package ratesim

import (
	"math"
	"time"
)

// LimitReq is nginx's limit_req: an excess over the rate, reckoned in whole
// milliseconds and moved by accepted requests alone. Up to Burst requests of
// excess pass at once, or queue when Delay is set; the rest is refused.
type LimitReq struct {
	PerSecond float64
	Burst     float64
	Delay     bool

	excess float64
	at     time.Duration
	used   bool
}

// after is the excess that a request would make.
func (l *LimitReq) after(now time.Duration) float64 {
	if !l.used {
		return 0
	}
	passed := max(0, now.Truncate(time.Millisecond)-l.at)
	return math.Max(0, l.excess-l.PerSecond*passed.Seconds()+1)
}

// Take implements Limiter.
func (l *LimitReq) Take(now time.Duration) Ruling {
	excess := l.after(now)
	if over := excess - l.Burst; over > roundoff {
		return Ruling{Wait: seconds(over/l.PerSecond) + time.Millisecond}
	}
	l.excess, l.at, l.used = excess, now.Truncate(time.Millisecond), true
	if l.Delay {
		return Ruling{Pass: true, Slow: seconds(excess / l.PerSecond)}
	}
	return Ruling{Pass: true}
}

// Free implements Limiter.
func (l *LimitReq) Free(now time.Duration) time.Duration {
	for over := l.after(now) - l.Burst; over > roundoff; over = l.after(now) - l.Burst {
		now += seconds(over/l.PerSecond) + time.Millisecond
	}
	return now
}

// Rate implements Limiter.
func (l *LimitReq) Rate(time.Duration) float64 { return l.PerSecond }

// Tarpit says nothing at first: from half of its Depth on it answers ever more
// slowly, up to Slowest, and only a full one refuses.
type Tarpit struct {
	PerSecond float64
	Depth     float64
	Slowest   time.Duration

	level float64
	at    time.Duration
}

func (p *Tarpit) levelAt(now time.Duration) float64 {
	return math.Max(0, p.level-p.PerSecond*(now-p.at).Seconds())
}

// Take implements Limiter.
func (p *Tarpit) Take(now time.Duration) Ruling {
	level := p.levelAt(now) + 1
	if over := level - p.Depth; over > roundoff {
		return Ruling{Wait: seconds(over/p.PerSecond) + tick}
	}
	p.level, p.at = level, now
	half := p.Depth / 2
	return Ruling{Pass: true, Slow: seconds(p.Slowest.Seconds() * math.Max(0, level-half) / half)}
}

// Free implements Limiter. Nobody who knows the tarpit goes where it is slow.
func (p *Tarpit) Free(now time.Duration) time.Duration {
	if over := p.levelAt(now) + 1 - p.Depth/2; over > roundoff {
		return now + seconds(over/p.PerSecond) + tick
	}
	return now
}

// Rate implements Limiter.
func (p *Tarpit) Rate(time.Duration) float64 { return p.PerSecond }

// Slow answers later by so much, as a provider does that works long on each request.
type Slow struct {
	Limiter
	By time.Duration
}

// Take implements Limiter.
func (s *Slow) Take(now time.Duration) Ruling {
	r := s.Limiter.Take(now)
	if r.Pass {
		r.Slow += s.By
	}
	return r
}

// Occupy implements occupied.
func (s *Slow) Occupy(until time.Duration) {
	if o, ok := s.Limiter.(occupied); ok {
		o.Occupy(until)
	}
}
