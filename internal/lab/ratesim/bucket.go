package ratesim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Course is a limit that changes: requests per second at a time.
type Course func(now time.Duration) float64

// Drop is a course that leaves its level for another one between two times.
func Drop(level, low float64, from, to time.Duration) Course {
	return func(now time.Duration) float64 {
		if now >= from && now < to {
			return low
		}
		return level
	}
}

// Sine is a course that swings around its mean by a share of it.
func Sine(mean, share float64, period time.Duration) Course {
	return func(now time.Duration) float64 {
		return mean * (1 + share*math.Sin(2*math.Pi*now.Seconds()/period.Seconds()))
	}
}

// Hours is a course that goes by the hour of the day: each hour has its share of the level.
// The run begins at a time of the day.
func Hours(level float64, shares [24]float64, begins time.Duration) Course {
	return func(now time.Duration) float64 {
		return level * shares[(begins+now)/time.Hour%24]
	}
}

// Bucket is a token bucket: it starts full, holds Burst requests and refills at a
// constant rate, or along a Course when there is one.
type Bucket struct {
	PerSecond float64
	Course    Course
	Burst     float64

	spent float64 // tokens missing from a full bucket; negative never
	at    time.Duration
}

// Rate implements Limiter.
func (b *Bucket) Rate(now time.Duration) float64 {
	if b.Course == nil {
		return b.PerSecond
	}
	return b.Course(now)
}

// courseStep is how finely a changing rate is added up.
const courseStep = 500 * time.Millisecond

// missing is how many tokens the bucket lacks at a time.
func (b *Bucket) missing(now time.Duration) float64 {
	if b.Course == nil {
		return math.Max(0, b.spent-b.PerSecond*(now-b.at).Seconds())
	}
	left := b.spent
	for t := b.at; t < now && left > 0; t += courseStep {
		left -= b.Course(t) * min(courseStep, now-t).Seconds()
	}
	return math.Max(0, left)
}

// drain moves the bucket to a time and takes tokens out of it.
func (b *Bucket) drain(now time.Duration, tokens float64) {
	b.spent, b.at = b.missing(now)+tokens, max(now, b.at)
}

// short is how many tokens another request lacks at a time.
func (b *Bucket) short(now time.Duration) float64 {
	lack := b.missing(now) + 1 - b.Burst
	if lack < roundoff {
		return 0
	}
	return lack
}

// Take implements Limiter.
func (b *Bucket) Take(now time.Duration) Ruling {
	if lack := b.short(now); lack > 0 {
		return Ruling{Wait: seconds(lack/b.Rate(now)) + tick}
	}
	b.drain(now, 1)
	return Ruling{Pass: true}
}

// Free implements Limiter.
func (b *Bucket) Free(now time.Duration) time.Duration {
	for {
		lack := b.short(now)
		if lack == 0 {
			return now
		}
		wait := seconds(lack/b.Rate(now)) + tick
		if b.Course != nil {
			wait = min(wait, courseStep)
		}
		now += wait
	}
}

// Shared is a bucket from which other clients drink as well. They come at random
// times, are many and keep coming: what they take they have taken first.
type Shared struct {
	Bucket
	Others float64 // requests per second of the others, on average

	random rand.PCG
	next   time.Duration
}

// NewShared makes a bucket with other clients whose times follow from a seed.
func NewShared(perSecond, burst, others float64, seed uint64) *Shared {
	s := &Shared{Bucket: Bucket{PerSecond: perSecond, Burst: burst}, Others: others, random: *rand.NewPCG(seed, 0x07e5)}
	s.next = s.gap()
	return s
}

func (s *Shared) gap() time.Duration {
	uniform := (float64(s.random.Uint64()>>11) + 0.5) / (1 << 53)
	return seconds(-math.Log(uniform) / s.Others)
}

// catchUp lets the others take what they take up to a time.
func (s *Shared) catchUp(now time.Duration) {
	for ; s.next <= now; s.next += s.gap() {
		if s.missing(s.next) < 2*s.Burst {
			s.drain(s.next, 1)
		}
	}
}

// Take implements Limiter.
func (s *Shared) Take(now time.Duration) Ruling {
	s.catchUp(now)
	return s.Bucket.Take(now)
}

// Free implements Limiter. It foresees the others, as only an oracle can.
func (s *Shared) Free(now time.Duration) time.Duration {
	future := *s
	for {
		future.catchUp(now)
		free := future.Bucket.Free(now)
		if free == now {
			return now
		}
		now = free
	}
}

// Rate implements Limiter: it is what the others leave.
func (s *Shared) Rate(time.Duration) float64 { return s.PerSecond - s.Others }
