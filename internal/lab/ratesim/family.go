package ratesim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Family is a kind of provider with members drawn at random.
type Family struct {
	Name   string
	Member func(seed uint64) Provider
}

// draw makes the parameters of one member.
type draw struct{ *rand.Rand }

// rate is spread evenly over the magnitudes between two rates.
func (d draw) rate(low, high float64) float64 {
	return low * math.Pow(high/low, d.Float64())
}

func (d draw) between(low, high int) int { return low + d.IntN(high-low+1) }

func (d draw) coin() bool { return d.IntN(2) == 0 }

// window is a length and a limit that make a rate of the usual magnitudes.
func (d draw) window() (limit int, length, offset time.Duration) {
	length = []time.Duration{time.Second, 10 * time.Second, time.Minute, 5 * time.Minute}[d.IntN(4)]
	limit = max(1, int(d.rate(0.4, 12)*length.Seconds()))
	return limit, length, time.Duration(d.Int64N(int64(length)))
}

func (d draw) bucket() Bucket {
	return Bucket{PerSecond: d.rate(0.4, 20), Burst: float64(d.between(1, 40))}
}

// Families are all kinds of providers that there are here.
func Families() []Family {
	return []Family{
		family("token bucket", func(d draw, p *Provider) {
			b := d.bucket()
			p.Limiter = func(uint64) Limiter { c := b; return &c }
		}),
		family("fixed window", func(d draw, p *Provider) {
			limit, length, offset := d.window()
			p.Announces = d.coin()
			p.Limiter = func(uint64) Limiter { return &FixedWindow{Limit: limit, Window: length, Offset: offset} }
		}),
		family("sliding window", func(d draw, p *Provider) {
			limit, length, _ := d.window()
			p.Announces = d.coin()
			p.Limiter = func(uint64) Limiter { return &SlidingWindow{Limit: limit, Window: length} }
		}),
		family("window from the first request", func(d draw, p *Provider) {
			limit, length, _ := d.window()
			p.Limiter = func(uint64) Limiter { return &FirstWindow{Limit: limit, Window: length} }
		}),
		family("nested windows", func(d draw, p *Provider) {
			second := d.between(1, 12)
			hour, offset := int(float64(second)*3600*(0.1+0.5*d.Float64())), time.Duration(d.Int64N(int64(time.Hour)))
			p.Limiter = func(uint64) Limiter {
				return &Nested{
					Short: &FixedWindow{Limit: second, Window: time.Second},
					Long:  &FixedWindow{Limit: hour, Window: time.Hour, Offset: offset},
				}
			}
		}),
		family("daily quota", func(d draw, p *Provider) {
			b, quota, offset := d.bucket(), d.between(1000, 5000), time.Duration(d.Int64N(int64(24*time.Hour)))
			p.Tells = true
			p.Limiter = func(uint64) Limiter {
				c := b
				return &Nested{Short: &c, Long: &FixedWindow{Limit: quota, Window: 24 * time.Hour, Offset: offset}}
			}
		}),
		family("cost per request", func(d draw, p *Provider) {
			b, most := d.bucket(), d.between(2, 5)
			b.Burst += float64(most)
			p.Limiter = func(seed uint64) Limiter { return NewCostly(b, most, seed) }
		}),
		family("cut connections", func(d draw, p *Provider) {
			limit, length, _ := d.window()
			p.Cuts = true
			p.Limiter = func(uint64) Limiter { return &SlidingWindow{Limit: limit, Window: length} }
		}),
		family("limit_req", func(d draw, p *Provider) {
			l := LimitReq{PerSecond: d.rate(1, 10), Burst: float64(d.IntN(11)), Delay: d.coin()}
			p.Limiter = func(uint64) Limiter { c := l; return &c }
		}),
		family("hourly quota", func(d draw, p *Provider) {
			p.Announces, p.Tells = true, false
			quota, offset := d.between(50, 5000), time.Duration(d.Int64N(int64(time.Hour)))
			short, cool := d.bucket(), time.Duration(d.between(10, 90))*time.Second
			p.Limiter = func(uint64) Limiter {
				return &Hourly{Quota: FixedWindow{Limit: quota, Window: time.Hour, Offset: offset}, Short: short, CoolDown: cool}
			}
		}),
		family("concurrency", func(d draw, p *Provider) {
			most := d.between(1, 6)
			p.Limiter = func(uint64) Limiter { return &Concurrency{Most: most, Nominal: float64(most) / p.Median.Seconds()} }
		}),
		family("tarpit", func(d draw, p *Provider) {
			t := Tarpit{PerSecond: d.rate(0.5, 8), Depth: float64(d.between(4, 30)), Slowest: time.Duration(d.between(1, 6)) * time.Second}
			p.Limiter = func(uint64) Limiter { c := t; return &c }
		}),
		family("penalty box", func(d draw, p *Provider) {
			b, ban := d.bucket(), time.Duration(d.between(5, 60))*time.Second
			p.Limiter = func(uint64) Limiter {
				c := b
				return &PenaltyBox{Limiter: &c, Ban: ban, Longest: 10 * ban}
			}
		}),
		family("shared quota", func(d draw, p *Provider) {
			b, share := d.bucket(), 0.2+0.4*d.Float64()
			p.Limiter = func(seed uint64) Limiter { return NewShared(b.PerSecond, b.Burst+4, share*b.PerSecond, seed) }
		}),
		family("changing limit", func(d draw, p *Provider) {
			b, from := d.bucket(), time.Duration(d.between(10, 120))*time.Second
			b.Course = Drop(b.PerSecond, b.PerSecond/float64(d.between(2, 8)), from, from+time.Duration(d.between(60, 600))*time.Second)
			if d.coin() {
				b.Course = Sine(b.PerSecond, 0.7*d.Float64(), time.Duration(d.between(60, 3600))*time.Second)
			}
			p.Limiter = func(uint64) Limiter { c := b; return &c }
		}),
		family("hours of the day", func(d draw, p *Provider) {
			b := d.bucket()
			var shares [24]float64
			for hour := range shares {
				shares[hour] = []float64{1, 1, 0.5, 0.25}[d.IntN(4)]
			}
			// The next hour comes while the run is under way.
			b.Course = Hours(b.PerSecond, shares, time.Duration(d.IntN(24))*time.Hour+time.Duration(d.between(30, 58))*time.Minute)
			p.Limiter = func(uint64) Limiter { c := b; return &c }
		}),
		family("growing ban", func(d draw, p *Provider) {
			b, ban, by := d.bucket(), time.Duration(d.between(2, 30))*time.Second, 1.3+0.7*d.Float64()
			p.Limiter = func(uint64) Limiter {
				c := b
				return &GrowingBan{Limiter: &c, Ban: ban, Longest: 15 * time.Minute, Forgets: 10 * time.Minute, By: by}
			}
		}),
		family("faulty", func(d draw, p *Provider) {
			b := d.bucket()
			p.Errors, p.Timeouts, p.Missing = 0.1*d.Float64(), 0.03*d.Float64(), 0.1*d.Float64()
			p.Limiter = func(uint64) Limiter { c := b; return &c }
		}),
	}
}

// family makes a Family whose members have the usual network and tell their
// waits half of the time, before shape gives them a limit.
func family(name string, shape func(d draw, p *Provider)) Family {
	return Family{Name: name, Member: func(seed uint64) Provider {
		d := draw{rand.New(rand.NewPCG(seed, 4))}
		p := &Provider{
			Name: name, Tells: d.coin(), Median: time.Duration(d.between(40, 200)) * time.Millisecond, Spread: 0.3,
		}
		shape(d, p)
		return *p
	}}
}
