package ratesim

import (
	"math"
	"time"
)

// NginxLimitReq is nginx's limit_req: an excess over the rate, counted in whole milliseconds. Only accepted requests
// change it. Up to Burst requests of excess pass at once, or queue when Delay is set; the rest is refused.
type NginxLimitReq struct {
	PerSecond float64
	Burst     float64
	Delay     bool

	excess float64
	at     time.Duration
	used   bool
}

// excessAfter is the excess that a request would make.
func (l *NginxLimitReq) excessAfter(now time.Duration) float64 {
	if !l.used {
		return 0
	}
	passed := max(0, now.Truncate(time.Millisecond)-l.at)
	return math.Max(0, l.excess-l.PerSecond*passed.Seconds()+1)
}

// Admit implements Limiter.
func (l *NginxLimitReq) Admit(now time.Duration) Ruling {
	excess := l.excessAfter(now)
	if over := excess - l.Burst; over > fractionTolerance {
		return Ruling{Wait: durationOf(over/l.PerSecond) + time.Millisecond}
	}
	l.excess, l.at, l.used = excess, now.Truncate(time.Millisecond), true
	if l.Delay {
		return Ruling{Pass: true, Slow: durationOf(excess / l.PerSecond)}
	}
	return Ruling{Pass: true}
}

// NextAdmission implements Limiter.
func (l *NginxLimitReq) NextAdmission(now time.Duration) time.Duration {
	for over := l.excessAfter(now) - l.Burst; over > fractionTolerance; over = l.excessAfter(now) - l.Burst {
		now += durationOf(over/l.PerSecond) + time.Millisecond
	}
	return now
}

// RateAt implements Limiter.
func (l *NginxLimitReq) RateAt(time.Duration) float64 { return l.PerSecond }

// TarpitLimiter answers more and more slowly from half of its Depth on, up to Slowest. Only a full one refuses.
type TarpitLimiter struct {
	PerSecond float64
	Depth     float64
	Slowest   time.Duration

	level float64
	at    time.Duration
}

func (p *TarpitLimiter) fillLevelAt(now time.Duration) float64 {
	return math.Max(0, p.level-p.PerSecond*(now-p.at).Seconds())
}

// Admit implements Limiter.
func (p *TarpitLimiter) Admit(now time.Duration) Ruling {
	level := p.fillLevelAt(now) + 1
	if over := level - p.Depth; over > fractionTolerance {
		return Ruling{Wait: durationOf(over/p.PerSecond) + roundingMargin}
	}
	p.level, p.at = level, now
	half := p.Depth / 2
	return Ruling{Pass: true, Slow: durationOf(p.Slowest.Seconds() * math.Max(0, level-half) / half)}
}

// NextAdmission implements Limiter. It avoids the slow part of the tarpit.
func (p *TarpitLimiter) NextAdmission(now time.Duration) time.Duration {
	if over := p.fillLevelAt(now) + 1 - p.Depth/2; over > fractionTolerance {
		return now + durationOf(over/p.PerSecond) + roundingMargin
	}
	return now
}

// RateAt implements Limiter.
func (p *TarpitLimiter) RateAt(time.Duration) float64 { return p.PerSecond }

// SlowProvider answers later by so much, as a provider does that works long on each request.
type SlowProvider struct {
	Limiter
	By time.Duration
}

// Admit implements Limiter.
func (s *SlowProvider) Admit(now time.Duration) Ruling {
	r := s.Limiter.Admit(now)
	if r.Pass {
		r.Slow += s.By
	}
	return r
}

// Occupy implements occupied.
func (s *SlowProvider) Occupy(until time.Duration) {
	if o, ok := s.Limiter.(inProgressLimiter); ok {
		o.Occupy(until)
	}
}
