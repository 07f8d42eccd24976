package ratesim

import (
	"math"
	"math/rand/v2"
	"time"
)

// ProviderFamily is a kind of provider with members drawn at random.
type ProviderFamily struct {
	Name   string
	Member func(seed uint64) Provider
}

// memberDraw makes the parameters of one member.
type memberDraw struct{ *rand.Rand }

// drawRate is spread evenly over the magnitudes between two rates.
func (d memberDraw) drawRate(low, high float64) float64 {
	return low * math.Pow(high/low, d.Float64())
}

func (d memberDraw) drawInteger(low, high int) int { return low + d.IntN(high-low+1) }

func (d memberDraw) drawCoin() bool { return d.IntN(2) == 0 }

// drawWindow is a length and a limit that make a rate of the usual magnitudes.
func (d memberDraw) drawWindow() (limit int, length, offset time.Duration) {
	length = []time.Duration{time.Second, 10 * time.Second, time.Minute, 5 * time.Minute}[d.IntN(4)]
	limit = max(1, int(d.drawRate(0.4, 12)*length.Seconds()))
	return limit, length, time.Duration(d.Int64N(int64(length)))
}

func (d memberDraw) drawBucket() TokenBucket {
	return TokenBucket{PerSecond: d.drawRate(0.4, 20), Burst: float64(d.drawInteger(1, 40))}
}

// AllFamilies are all kinds of providers that there are here.
func AllFamilies() []ProviderFamily {
	return []ProviderFamily{
		newFamily("token bucket", func(d memberDraw, p *Provider) {
			b := d.drawBucket()
			p.Limiter = func(uint64) Limiter { c := b; return &c }
		}),
		newFamily("fixed window", func(d memberDraw, p *Provider) {
			limit, length, offset := d.drawWindow()
			p.Announces = d.drawCoin()
			p.Limiter = func(uint64) Limiter { return &FixedWindow{Limit: limit, Window: length, Offset: offset} }
		}),
		newFamily("sliding window", func(d memberDraw, p *Provider) {
			limit, length, _ := d.drawWindow()
			p.Announces = d.drawCoin()
			p.Limiter = func(uint64) Limiter { return &SlidingWindow{Limit: limit, Window: length} }
		}),
		newFamily("window from the first request", func(d memberDraw, p *Provider) {
			limit, length, _ := d.drawWindow()
			p.Limiter = func(uint64) Limiter { return &FirstWindow{Limit: limit, Window: length} }
		}),
		newFamily("nested windows", func(d memberDraw, p *Provider) {
			second := d.drawInteger(1, 12)
			hour, offset := int(float64(second)*3600*(0.1+0.5*d.Float64())), time.Duration(d.Int64N(int64(time.Hour)))
			p.Limiter = func(uint64) Limiter {
				return &NestedLimits{
					Short: &FixedWindow{Limit: second, Window: time.Second},
					Long:  &FixedWindow{Limit: hour, Window: time.Hour, Offset: offset},
				}
			}
		}),
		newFamily("daily quota", func(d memberDraw, p *Provider) {
			b, quota, offset := d.drawBucket(), d.drawInteger(1000, 5000), time.Duration(d.Int64N(int64(24*time.Hour)))
			p.Tells = true
			p.Limiter = func(uint64) Limiter {
				c := b
				return &NestedLimits{Short: &c, Long: &FixedWindow{Limit: quota, Window: 24 * time.Hour, Offset: offset}}
			}
		}),
		newFamily("cost per request", func(d memberDraw, p *Provider) {
			b, most := d.drawBucket(), d.drawInteger(2, 5)
			b.Burst += float64(most)
			p.Limiter = func(seed uint64) Limiter { return NewCostlyBucket(b, most, seed) }
		}),
		newFamily("cut connections", func(d memberDraw, p *Provider) {
			limit, length, _ := d.drawWindow()
			p.Cuts = true
			p.Limiter = func(uint64) Limiter { return &SlidingWindow{Limit: limit, Window: length} }
		}),
		newFamily("limit_req", func(d memberDraw, p *Provider) {
			l := NginxLimitReq{PerSecond: d.drawRate(1, 10), Burst: float64(d.IntN(11)), Delay: d.drawCoin()}
			p.Limiter = func(uint64) Limiter { c := l; return &c }
		}),
		newFamily("hourly quota", func(d memberDraw, p *Provider) {
			p.Announces, p.Tells = true, false
			quota, offset := d.drawInteger(50, 5000), time.Duration(d.Int64N(int64(time.Hour)))
			short, cool := d.drawBucket(), time.Duration(d.drawInteger(10, 90))*time.Second
			p.Limiter = func(uint64) Limiter {
				return &HourlyQuota{Quota: FixedWindow{Limit: quota, Window: time.Hour, Offset: offset}, Short: short,
					CoolDown: cool}
			}
		}),
		newFamily("concurrency", func(d memberDraw, p *Provider) {
			most := d.drawInteger(1, 6)
			p.Limiter = func(uint64) Limiter { return &Concurrency{Most: most, Nominal: float64(most) / p.Median.Seconds()} }
		}),
		newFamily("tarpit", func(d memberDraw, p *Provider) {
			t := TarpitLimiter{PerSecond: d.drawRate(0.5, 8), Depth: float64(d.drawInteger(4, 30)),
				Slowest: time.Duration(d.drawInteger(1, 6)) * time.Second}
			p.Limiter = func(uint64) Limiter { c := t; return &c }
		}),
		newFamily("penalty box", func(d memberDraw, p *Provider) {
			b, ban := d.drawBucket(), time.Duration(d.drawInteger(5, 60))*time.Second
			p.Limiter = func(uint64) Limiter {
				c := b
				return &PenaltyBox{Limiter: &c, Ban: ban, Longest: 10 * ban}
			}
		}),
		newFamily("shared quota", func(d memberDraw, p *Provider) {
			b, share := d.drawBucket(), 0.2+0.4*d.Float64()
			p.Limiter = func(seed uint64) Limiter { return NewSharedBucket(b.PerSecond, b.Burst+4, share*b.PerSecond, seed) }
		}),
		newFamily("changing limit", func(d memberDraw, p *Provider) {
			b, from := d.drawBucket(), time.Duration(d.drawInteger(10, 120))*time.Second
			b.Course = DropBetween(b.PerSecond, b.PerSecond/float64(d.drawInteger(2, 8)), from,
				from+time.Duration(d.drawInteger(60, 600))*time.Second)
			if d.drawCoin() {
				b.Course = SineCourse(b.PerSecond, 0.7*d.Float64(), time.Duration(d.drawInteger(60, 3600))*time.Second)
			}
			p.Limiter = func(uint64) Limiter { c := b; return &c }
		}),
		newFamily("hours of the day", func(d memberDraw, p *Provider) {
			b := d.drawBucket()
			var shares [24]float64
			for hour := range shares {
				shares[hour] = []float64{1, 1, 0.5, 0.25}[d.IntN(4)]
			}
			// The next hour comes while the run is under way.
			b.Course = HourlyCourse(b.PerSecond, shares,
				time.Duration(d.IntN(24))*time.Hour+time.Duration(d.drawInteger(30, 58))*time.Minute)
			p.Limiter = func(uint64) Limiter { c := b; return &c }
		}),
		newFamily("growing ban", func(d memberDraw, p *Provider) {
			b, ban, by := d.drawBucket(), time.Duration(d.drawInteger(2, 30))*time.Second, 1.3+0.7*d.Float64()
			p.Limiter = func(uint64) Limiter {
				c := b
				return &GrowingBan{Limiter: &c, Ban: ban, Longest: 15 * time.Minute, Forgets: 10 * time.Minute, By: by}
			}
		}),
		newFamily("faulty", func(d memberDraw, p *Provider) {
			b := d.drawBucket()
			p.Errors, p.Timeouts, p.Missing = 0.1*d.Float64(), 0.03*d.Float64(), 0.1*d.Float64()
			p.Limiter = func(uint64) Limiter { c := b; return &c }
		}),
	}
}

// newFamily returns a ProviderFamily. Its members have the default network and announce waits half of the time,
// before shape sets their limit.
func newFamily(name string, shape func(d memberDraw, p *Provider)) ProviderFamily {
	return ProviderFamily{Name: name, Member: func(seed uint64) Provider {
		d := memberDraw{rand.New(rand.NewPCG(seed, 4))}
		p := &Provider{
			Name: name, Tells: d.drawCoin(), Median: time.Duration(d.drawInteger(40, 200)) * time.Millisecond, Spread: 0.3,
		}
		shape(d, p)
		return *p
	}}
}
