package ratesim

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

const ms = time.Millisecond

// A request that arrives at the time that NextAdmission returned passes, whatever came before.
func TestFreeMeansThatARequestPasses(t *testing.T) {
	t.Parallel()
	for _, f := range AllFamilies() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			quickcheck.Check(t, func(t *quickcheck.T) {
				l := f.Member(t.Uint64("member", 0, 1<<20)).Limiter(1)
				now := time.Duration(0)
				for range t.Int("requests", 1, 60) {
					now += time.Duration(t.Int("gap", 0, 2000)) * ms
					free := l.NextAdmission(now)
					if free < now {
						t.Fatalf("free at %s, asked at %s", free, now)
					}
					if t.Bool("patient") {
						now = free
					}
					r := l.Admit(now)
					if o, ok := l.(inProgressLimiter); ok && r.Pass {
						o.Occupy(now + 200*ms)
					}
					if !r.Pass && r.Wait <= 0 {
						t.Fatalf("%s: ruling %+v", now, r)
					}
					// The tarpit is not called free where it is slow, although it lets pass.
					_, slows := l.(*TarpitLimiter)
					if r.Pass != (now >= free) && !(slows && r.Pass) {
						t.Fatalf("%s: passes %t, free at %s", now, r.Pass, free)
					}
				}
			})
		})
	}
}

// decide sends requests at these times; "+" passes and "-" is refused.
func decide(l Limiter, at ...time.Duration) (rulings string) {
	for _, now := range at {
		if l.Admit(now).Pass {
			rulings += "+"
		} else {
			rulings += "-"
		}
	}
	return rulings
}

func TestLimitersDecideAsTheirModelsDo(t *testing.T) {
	t.Parallel()
	sec := time.Second
	cases := map[string]struct {
		limiter Limiter
		at      []time.Duration
		want    string
	}{
		"a bucket starts full and refills": {&TokenBucket{PerSecond: 2, Burst: 2},
			[]time.Duration{0, 0, 0, 499 * ms, 500 * ms, 500 * ms, 9 * sec, 9 * sec, 9 * sec}, "++--+-++-"},
		"a changing bucket follows its course": {&TokenBucket{Course: DropBetween(2, 0.5, sec, 100*sec), Burst: 1},
			[]time.Duration{0, 500 * ms, sec, 2 * sec, 3 * sec, 5 * sec}, "+++-++"},
		"hours have their own limits": {
			&TokenBucket{Course: HourlyCourse(2, [24]float64{23: 1, 0: 0.25}, 24*time.Hour-2*sec), Burst: 1},
			[]time.Duration{0, 500 * ms, sec, 2 * sec, 2500 * ms, 4 * sec, 5 * sec, 6 * sec}, "++++-+-+"},
		"a fixed window starts anew": {&FixedWindow{Limit: 2, Window: sec, Offset: 400 * ms},
			[]time.Duration{0, 1, 599 * ms, 600 * ms, 601 * ms, 602 * ms, 1600 * ms}, "++-++-+"},
		"a sliding window forgets one by one": {&SlidingWindow{Limit: 2, Window: sec},
			[]time.Duration{0, 900 * ms, 950 * ms, sec, 1899 * ms, 1900 * ms}, "++-+-+"},
		"limit_req without burst": {&NginxLimitReq{PerSecond: 10},
			[]time.Duration{0, 99 * ms, 100 * ms, 199 * ms, 200 * ms}, "+-+-+"},
		"limit_req with burst counts the excess": {&NginxLimitReq{PerSecond: 10, Burst: 2},
			[]time.Duration{0, 0, 0, 0, 99 * ms, 100 * ms, 100 * ms}, "+++--+-"},
		"a full tarpit refuses": {&TarpitLimiter{PerSecond: 1, Depth: 2, Slowest: sec},
			[]time.Duration{0, 0, 0, sec, sec}, "++-+-"},
		"a ban doubles when it is ignored": {
			&PenaltyBox{Limiter: &TokenBucket{PerSecond: 1, Burst: 1}, Ban: 10 * sec, Longest: time.Minute},
			[]time.Duration{0, 0, 9 * sec, 28 * sec, 60 * sec, 68 * sec, 128 * sec}, "+-----+"},
		"a ban ends": {&PenaltyBox{Limiter: &TokenBucket{PerSecond: 1, Burst: 1}, Ban: 10 * sec, Longest: time.Minute},
			[]time.Duration{0, 0, 10 * sec}, "+-+"},
		"each ban is longer than the one before, until it is forgotten": {
			&GrowingBan{Limiter: &TokenBucket{PerSecond: 1, Burst: 1}, Ban: 10 * sec, By: 2, Longest: 30 * sec,
				Forgets: time.Minute},
			[]time.Duration{
				0, 0, 9 * sec, // banned until 10
				10 * sec, 10 * sec, 29 * sec, // twice as long, whatever was asked meanwhile
				30 * sec, 30 * sec, 59 * sec, // three times, which is the longest
				60 * sec, 179 * sec, 180 * sec, 180 * sec, 199 * sec, 200 * sec}, "+--+--+--+++--+"},
		"the short limit shuts the door of a quota": {
			&HourlyQuota{Quota: FixedWindow{Limit: 3, Window: time.Hour}, Short: TokenBucket{PerSecond: 1, Burst: 1},
				CoolDown: time.Minute},
			[]time.Duration{0, 1, 59 * sec, 61 * sec, 70 * sec, 80 * sec, time.Hour}, "+--++-+"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := decide(tc.limiter, tc.at...); got != tc.want {
				t.Fatalf("decided %s, want %s", got, tc.want)
			}
		})
	}
}

func TestConcurrencyCountsWhatIsInProgress(t *testing.T) {
	t.Parallel()
	c := &Concurrency{Most: 2}
	for _, end := range []time.Duration{300 * ms, 200 * ms} {
		if !c.Admit(0).Pass {
			t.Fatal("refused below the limit")
		}
		c.Occupy(end)
	}
	if c.Admit(199*ms).Pass || !c.Admit(200*ms).Pass {
		t.Fatal("the first end makes room, nothing before it")
	}
}

func TestSlowAnswersComeBeforeRefusals(t *testing.T) {
	t.Parallel()
	p := &TarpitLimiter{PerSecond: 1, Depth: 4, Slowest: 2 * time.Second}
	for i, want := range []time.Duration{0, 0, time.Second, 2 * time.Second} {
		if r := p.Admit(0); !r.Pass || r.Slow != want {
			t.Fatalf("request %d: %+v", i+1, r)
		}
	}
	queue := &NginxLimitReq{PerSecond: 2, Burst: 2, Delay: true}
	for i, want := range []time.Duration{0, 500 * ms, time.Second} {
		if r := queue.Admit(0); !r.Pass || r.Slow != want {
			t.Fatalf("queued request %d: %+v", i+1, r)
		}
	}
}

func TestOthersShareTheBucket(t *testing.T) {
	t.Parallel()
	s := NewSharedBucket(10, 5, 6, 1)
	passed := 0
	const hour = 3600
	for now := time.Duration(0); now < hour*time.Second; now += 10 * ms {
		if s.Admit(now).Pass {
			passed++
		}
	}
	if rate := float64(passed) / hour; rate < 3.8 || rate > 4.2 {
		t.Fatalf("%.2f a second are left of 10 when others take 6", rate)
	}
}
