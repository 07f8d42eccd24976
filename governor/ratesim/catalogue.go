package ratesim

import "time"

// Catalogue is a fixed set of providers from every family, for figures that can
// be compared over time.
func Catalogue() []Provider {
	bucket := func(perSecond, burst float64) func(uint64) Limiter {
		return func(uint64) Limiter { return &TokenBucket{PerSecond: perSecond, Burst: burst} }
	}
	course := func(c RateCourse, burst float64) func(uint64) Limiter {
		return func(uint64) Limiter { return &TokenBucket{Course: c, Burst: burst} }
	}
	boxed := func(uint64) Limiter {
		return &PenaltyBox{Limiter: &TokenBucket{PerSecond: 1.5, Burst: 5}, Ban: 20 * time.Second, Longest: 5 * time.Minute}
	}
	all := []Provider{
		{Name: "bucket", About: "3/s, burst 6", Limiter: bucket(3, 6)},
		{Name: "bucket-told", About: "0.7/s, burst 3, Retry-After", Limiter: bucket(0.7, 3), Tells: true},
		{Name: "bucket-fast", About: "30/s, burst 60: the owner's ceiling binds", Limiter: bucket(30, 60)},
		{Name: "window", About: "80 a minute, fixed", Limiter: func(uint64) Limiter {
			return &FixedWindow{Limit: 80, Window: time.Minute, Offset: 23 * time.Second}
		}},
		{Name: "window-told", About: "45 a minute, fixed, Retry-After", Tells: true, Limiter: func(uint64) Limiter {
			return &FixedWindow{Limit: 45, Window: time.Minute, Offset: 50 * time.Second}
		}},
		{Name: "sliding", About: "120 a minute, sliding", Limiter: func(uint64) Limiter {
			return &SlidingWindow{Limit: 120, Window: time.Minute}
		}},
		{Name: "sliding-announced", About: "75 a minute, sliding, allowance announced", Announces: true,
			Limiter: func(uint64) Limiter {
				return &SlidingWindow{Limit: 75, Window: time.Minute}
			}},
		{Name: "nginx", About: "limit_req 3r/s", Limiter: func(uint64) Limiter { return &NginxLimitReq{PerSecond: 3} }},
		{Name: "nginx-nodelay", About: "limit_req 2r/s burst=8 nodelay", Limiter: func(uint64) Limiter {
			return &NginxLimitReq{PerSecond: 2, Burst: 8}
		}},
		{Name: "nginx-delay", About: "limit_req 4r/s burst=6, queued", Limiter: func(uint64) Limiter {
			return &NginxLimitReq{PerSecond: 4, Burst: 6, Delay: true}
		}},
		{Name: "hourly", About: "3000 an hour announced, 4/s burst 15 hidden", Announces: true,
			Limiter: func(uint64) Limiter {
				return &HourlyQuota{Quota: FixedWindow{Limit: 3000, Window: time.Hour, Offset: 35 * time.Minute},
					Short: TokenBucket{PerSecond: 4, Burst: 15}, CoolDown: 45 * time.Second}
			}},
		{Name: "concurrency", About: "2 at once",
			Limiter: func(uint64) Limiter { return &Concurrency{Most: 2, Nominal: 20} }},
		{Name: "tarpit", About: "3/s, depth 16, up to 4 s slower", Limiter: func(uint64) Limiter {
			return &TarpitLimiter{PerSecond: 3, Depth: 16, Slowest: 4 * time.Second}
		}},
		{Name: "penalty", About: "1.5/s burst 5, bans of 20 s", Limiter: boxed},
		{Name: "penalty-told", About: "the same with Retry-After", Tells: true, Limiter: boxed},
		{Name: "shared", About: "6/s burst 12, of which others take 3", Limiter: func(seed uint64) Limiter {
			return NewSharedBucket(6, 12, 3, seed)
		}},
		{Name: "drop", About: "5/s, a quarter of it from minute 8 to 25",
			Limiter: course(DropBetween(5, 1.25, 8*time.Minute, 25*time.Minute), 8)},
		{Name: "sine", About: "2/s, half more or less over 45 minutes",
			Limiter: course(SineCourse(2, 0.5, 45*time.Minute), 6)},
		{Name: "faulty", About: "2.5/s burst 6, 1 % errors, 0.5 % timeouts", Limiter: bucket(2.5, 6), Errors: 0.01,
			Timeouts: 0.005},
	}
	for i := range all {
		all[i].Median, all[i].Spread = 100*time.Millisecond, 0.3
	}
	return all
}
