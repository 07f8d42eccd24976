package ratesim

import (
	"math"
	"math/rand/v2"
	"time"
)

// RateCourse is a limit that changes: requests per second at a time.
type RateCourse func(now time.Duration) float64

// DropBetween is a course that leaves its level for another one between two times.
func DropBetween(level, low float64, from, to time.Duration) RateCourse {
	return func(now time.Duration) float64 {
		if now >= from && now < to {
			return low
		}
		return level
	}
}

// SineCourse is a course that swings around its mean by a share of it.
func SineCourse(mean, share float64, period time.Duration) RateCourse {
	return func(now time.Duration) float64 {
		return mean * (1 + share*math.Sin(2*math.Pi*now.Seconds()/period.Seconds()))
	}
}

// HourlyCourse is a course that goes by the hour of the day: each hour has its share of the level.
// The run begins at a time of the day.
func HourlyCourse(level float64, shares [24]float64, begins time.Duration) RateCourse {
	return func(now time.Duration) float64 {
		return level * shares[(begins+now)/time.Hour%24]
	}
}

// TokenBucket is a token bucket: it starts full, holds Burst requests and refills at a
// constant rate, or along a Course when there is one.
type TokenBucket struct {
	PerSecond float64
	Course    RateCourse
	Burst     float64

	spent float64 // tokens missing from a full bucket; negative never
	at    time.Duration
}

// RateAt implements Limiter.
func (b *TokenBucket) RateAt(now time.Duration) float64 {
	if b.Course == nil {
		return b.PerSecond
	}
	return b.Course(now)
}

// courseStep is how finely a changing rate is added up.
const courseStep = 500 * time.Millisecond

// missingTokens is how many tokens the bucket lacks at a time.
func (b *TokenBucket) missingTokens(now time.Duration) float64 {
	if b.Course == nil {
		return math.Max(0, b.spent-b.PerSecond*(now-b.at).Seconds())
	}
	left := b.spent
	for t := b.at; t < now && left > 0; t += courseStep {
		left -= b.Course(t) * min(courseStep, now-t).Seconds()
	}
	return math.Max(0, left)
}

// drainTokens moves the bucket to a time and takes tokens out of it.
func (b *TokenBucket) drainTokens(now time.Duration, tokens float64) {
	b.spent, b.at = b.missingTokens(now)+tokens, max(now, b.at)
}

// tokensShort is how many tokens another request lacks at a time.
func (b *TokenBucket) tokensShort(now time.Duration) float64 {
	lack := b.missingTokens(now) + 1 - b.Burst
	if lack < fractionTolerance {
		return 0
	}
	return lack
}

// Admit implements Limiter.
func (b *TokenBucket) Admit(now time.Duration) Ruling {
	if lack := b.tokensShort(now); lack > 0 {
		return Ruling{Wait: durationOf(lack/b.RateAt(now)) + roundingMargin}
	}
	b.drainTokens(now, 1)
	return Ruling{Pass: true}
}

// NextAdmission implements Limiter.
func (b *TokenBucket) NextAdmission(now time.Duration) time.Duration {
	for {
		lack := b.tokensShort(now)
		if lack == 0 {
			return now
		}
		wait := durationOf(lack/b.RateAt(now)) + roundingMargin
		if b.Course != nil {
			wait = min(wait, courseStep)
		}
		now += wait
	}
}

// SharedBucket is a bucket from which other clients drink as well. They come at random
// times, are many and keep coming: what they take they have taken first.
type SharedBucket struct {
	TokenBucket
	Others float64 // requests per second of the others, on average

	random rand.PCG
	next   time.Duration
}

// NewSharedBucket returns a bucket with other clients. The seed determines their times.
func NewSharedBucket(perSecond, burst, others float64, seed uint64) *SharedBucket {
	s := &SharedBucket{TokenBucket: TokenBucket{PerSecond: perSecond, Burst: burst}, Others: others,
		random: *rand.NewPCG(seed, 0x07e5)}
	s.next = s.nextOtherGap()
	return s
}

func (s *SharedBucket) nextOtherGap() time.Duration {
	uniform := (float64(s.random.Uint64()>>11) + 0.5) / (1 << 53)
	return durationOf(-math.Log(uniform) / s.Others)
}

// takeForOthers takes the requests of the other clients up to a time.
func (s *SharedBucket) takeForOthers(now time.Duration) {
	for ; s.next <= now; s.next += s.nextOtherGap() {
		if s.missingTokens(s.next) < 2*s.Burst {
			s.drainTokens(s.next, 1)
		}
	}
}

// Admit implements Limiter.
func (s *SharedBucket) Admit(now time.Duration) Ruling {
	s.takeForOthers(now)
	return s.TokenBucket.Admit(now)
}

// NextAdmission implements Limiter. It foresees the others, as only an oracle can.
func (s *SharedBucket) NextAdmission(now time.Duration) time.Duration {
	future := *s
	for {
		future.takeForOthers(now)
		free := future.TokenBucket.NextAdmission(now)
		if free == now {
			return now
		}
		now = free
	}
}

// RateAt implements Limiter: it is what the others leave.
func (s *SharedBucket) RateAt(time.Duration) float64 { return s.PerSecond - s.Others }
