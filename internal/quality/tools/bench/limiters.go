package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/internal/quality/limitertest"
)

// limiter is one way in which a real program limits, and how many requests the client
// has under way at once.
type limiter struct {
	name     string
	rate     float64 // requests per second
	run      func(c config, dir string) (url string, stop func() error, err error)
	inFlight int
	harsh    bool // it counts distances or breaks connections
}

// wants is the goodput that a cold and a warm run should reach, as a share of the limit.
func (l limiter) wants(busy bool) (cold, warm float64) {
	cold, warm = 0.85, 0.95
	if l.harsh {
		cold, warm = 0.8, 0.92
	}
	if busy {
		cold, warm = 0.7*cold, 0.7*warm
	}
	return cold, warm
}

func nginx(name string, l limitertest.Limit, inFlight int) limiter {
	return limiter{"nginx, " + name, float64(l.Rate), func(c config, dir string) (string, func() error, error) {
		s, err := limitertest.Run(c.Nginx, dir, l, 1)
		if err != nil {
			return "", nil, err
		}
		return s.URL, func() error { _, err := s.Stop(); return err }, nil
	}, inFlight, l.Burst == 0}
}

func haproxy(name string, w limitertest.Window, inFlight int) limiter {
	w.Requests, w.Length = 200, 10*time.Second
	return limiter{"haproxy, " + name, w.Rate(), func(c config, dir string) (string, func() error, error) {
		s, err := limitertest.RunHAProxy(c.HAProxy, dir, w)
		if err != nil {
			return "", nil, err
		}
		return s.URL, s.Stop, nil
	}, inFlight, w.Status == 0}
}

// limiters are those that limit distances and rates, and those that count in windows.
func limiters() []limiter {
	const most = 8
	sliding := limitertest.Window{Status: http.StatusTooManyRequests}
	window := limitertest.Window{Status: http.StatusTooManyRequests, RetryAfter: 10}
	lenient := limitertest.Window{Status: http.StatusServiceUnavailable, Lenient: true}
	fixed := limitertest.Window{Status: http.StatusServiceUnavailable, Fixed: true}
	fixedTold := limitertest.Window{Status: http.StatusTooManyRequests, Fixed: true, RetryAfter: 10}
	held := limitertest.Limit{Rate: 40, Burst: 5, Hold: true}
	return []limiter{
		nginx("no burst, 10/s", limitertest.Limit{Rate: 10}, 1),
		nginx("no burst, 40/s", limitertest.Limit{Rate: 40}, 1),
		nginx("no burst, 100/s", limitertest.Limit{Rate: 100}, 1),
		nginx("no burst, 40/s, 8", limitertest.Limit{Rate: 40}, most),
		nginx("no burst, 40/s, Retry-After", limitertest.Limit{Rate: 40, RetryAfter: 1}, 1),
		nginx("burst 5", limitertest.Limit{Rate: 40, Burst: 5}, 1),
		nginx("burst 20", limitertest.Limit{Rate: 20, Burst: 20}, 1),
		nginx("burst 20, 8", limitertest.Limit{Rate: 20, Burst: 20}, most),
		nginx("held burst", held, 1),
		nginx("held burst, 8", held, most),
		haproxy("sliding", sliding, 1),
		haproxy("sliding, 8", sliding, most),
		haproxy("sliding, Retry-After", window, 1),
		haproxy("sliding, Retry-After, 8", window, most),
		haproxy("lenient, 503", lenient, 1),
		haproxy("fixed, 503", fixed, 1),
		haproxy("fixed, 503, 8", fixed, most),
		haproxy("fixed, Retry-After", fixedTold, 1),
		haproxy("cuts", limitertest.Window{}, 1),
		haproxy("cuts, 8", limitertest.Window{}, most),
	}
}

// How the client approaches the limiter: cold, with what the cold run learned, without a
// pace, and with one that grows by addition and is halved.
const (
	cold = iota
	warm
	unpaced
	additive
	approaches
)

// tally is what one client got in one run.
type tally struct{ served, refused atomic.Int64 }

// limitersAtOnce is how many limiters are measured side by side. More of them make a machine
// of two processors so busy that a request is late by as much as a limiter counts.
const limitersAtOnce = 7

// measureLimiters compares the goodput of the real client with the rate that a real
// limiter is configured to.
func measureLimiters(ctx context.Context, c config, dir string, r *report) error {
	if c.Nginx == "" || c.HAProxy == "" {
		fmt.Println("limiters are left out: give --nginx and --haproxy or run make bench")
		return nil
	}
	idle, err := load(ctx, c.Busy)
	if err != nil {
		return err
	}
	defer idle()
	all := slices.DeleteFunc(limiters(), func(l limiter) bool { return !strings.Contains(l.name, c.Limiter) })
	results := make([][approaches][]*tally, len(all))
	failed := make([]error, len(all))
	var under sync.WaitGroup
	turns := make(chan struct{}, limitersAtOnce)
	for i, l := range all {
		turns <- struct{}{}
		under.Go(func() {
			defer func() { <-turns }()
			for round := range c.Rounds {
				one, err := l.measure(ctx, c, dir, uint64(round))
				if err != nil {
					failed[i] = fmt.Errorf("%s: %w", l.name, err)
					return
				}
				for a, t := range one {
					results[i][a] = append(results[i][a], t)
				}
			}
		})
	}
	under.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	for i, l := range all {
		x := limited{Rate: l.rate}
		x.UnpacedRatio, x.UnpacedRefused = summary(results[i][unpaced], x.Rate, c)
		x.AdditiveRatio, x.AdditiveRefused = summary(results[i][additive], x.Rate, c)
		coldWant, warmWant := l.wants(c.Busy > 0)
		x.Name, x.Want, x.WantRefused = l.name+": cold", coldWant, 20
		x.Ratio, x.Refused = summary(results[i][cold], x.Rate, c)
		r.limit(x)
		x.Name, x.Want, x.WantRefused = l.name+": warm", warmWant, 2
		x.Ratio, x.Refused = summary(results[i][warm], x.Rate, c)
		r.limit(x)
	}
	return nil
}

// load starts programs that only use the processor, until stop is called. They are separate
// processes, like the load on a real machine. Goroutines of this process would share its scheduler
// with the measured code, in slices of ten milliseconds.
func load(ctx context.Context, programs int) (stop func(), err error) {
	var ended []func()
	stop = func() {
		for _, end := range ended {
			end()
		}
	}
	for range programs {
		loop := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			stop()
			return nil, fmt.Errorf("start a busy loop: %w", err)
		}
		ended = append(ended, func() {
			_ = loop.Process.Kill() // it may have ended with the context
			_ = loop.Wait()
		})
	}
	return stop, nil
}

// summary is the median goodput as a share of the rate, and the median of the
// refusals per thousand served.
func summary(rounds []*tally, rate float64, c config) (ratio, refused float64) {
	var ratios, refusals []float64
	for _, t := range rounds {
		served := float64(t.served.Load())
		ratios = append(ratios, served/c.LimiterTime.Seconds()/rate)
		refusals = append(refusals, 1000*float64(t.refused.Load())/max(1, served))
	}
	return median(ratios), median(refusals)
}

// measure runs each approach against a fresh limiter: the cold one, then the warm one, then the
// others in parallel.
func (l limiter) measure(ctx context.Context, c config, dir string, seed uint64) (out [approaches]*tally, err error) {
	var learned *governor.Learned
	for _, a := range []int{cold, warm} {
		g := governor.New("limiter", func(g *governor.Config) {
			g.Ceiling, g.Seed, g.Learned = l.ceiling(), seed, learned
		})
		if out[a], err = l.fetch(ctx, c, dir, a, g); err != nil {
			return out, err
		}
		if found, ok := g.Snapshot(time.Now()); ok {
			if found, ok = governor.RestoreLearned(found.Fields(), time.Now()); ok {
				learned = &found
			}
		}
	}
	var errs [approaches]error
	var beside sync.WaitGroup
	for _, a := range []int{unpaced, additive} {
		beside.Go(func() {
			out[a], errs[a] = l.fetch(ctx, c, dir, a, governor.New("limiter", func(g *governor.Config) {
				// Use a base that suits the rate, and never stop retrying.
				g.Discovery, g.Backoff, g.Attempts, g.Seed = 0, 100*time.Millisecond, 1000, seed
				g.Retries, g.Breaker.Off = governor.RetryBudget{}, true
			}))
		})
	}
	beside.Wait()
	return out, errors.Join(errs[:]...)
}

// ceiling is what the owner allows: five times the limit.
func (l limiter) ceiling() time.Duration {
	return time.Duration(float64(time.Second) / (5 * l.rate))
}

// fetch asks for the time of one measurement.
func (l limiter) fetch(ctx context.Context, c config, dir string, approach int, g *governor.Governor) (t *tally,
	err error) {
	own, err := os.MkdirTemp(dir, "limiter-")
	if err != nil {
		return nil, err
	}
	url, stop, err := l.run(c, own)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	timed, cancel := context.WithTimeout(ctx, c.LimiterTime)
	defer cancel()
	t = new(tally)
	most := int64(10 * l.rate * c.LimiterTime.Seconds()) // whatever a client does, nothing is flooded
	var transport http.RoundTripper = counting{t, &http.Transport{MaxIdleConnsPerHost: l.inFlight}, most, cancel}
	if approach == additive {
		transport = &aimd{RoundTripper: transport, ceiling: l.ceiling(), rate: 1}
	}
	sender := governhttp.NewSender(g, governhttp.SenderOptions{InFlight: l.inFlight})
	client, err := governhttp.New(governhttp.Options{BaseURL: url, Transport: transport, Sender: sender})
	if err != nil {
		return nil, err
	}
	var workers sync.WaitGroup
	errs := make(chan error, l.inFlight)
	for range l.inFlight {
		workers.Go(func() { errs <- fetchUntilDone(timed, client, sender) })
	}
	workers.Wait()
	for range l.inFlight {
		err = errors.Join(err, <-errs)
	}
	return t, errors.Join(err, ctx.Err())
}

// fetchUntilDone requests one item repeatedly until ctx ends. After an abandoned request it waits
// as long as the error demands, and then continues.
func fetchUntilDone(ctx context.Context, client *governhttp.Client, sender *governhttp.Sender) error {
	for ctx.Err() == nil {
		_, err := client.Get(ctx, limitertest.Path(0), nil)
		var stopped *governhttp.Stopped
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.As(err, &stopped):
			_ = sender.Rest(ctx, stopped.RetryAfter) // fails when the time is over, as the loop sees
		default:
			return err
		}
	}
	return nil
}

// counting counts the answers of a limiter, and stops when there are too many.
type counting struct {
	*tally
	http.RoundTripper
	most int64
	stop func()
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	switch {
	case r.Context().Err() != nil:
	case err != nil || resp.StatusCode != http.StatusOK:
		c.refused.Add(1)
	default:
		c.served.Add(1)
	}
	if c.served.Load()+c.refused.Load() >= c.most {
		c.stop()
	}
	return resp, err
}

// aimd paces by the rule of many clients: one request per second more with every second
// that goes well, and half of it after a refusal.
type aimd struct {
	http.RoundTripper
	ceiling time.Duration

	mu   sync.Mutex
	rate float64
	next time.Time
}

func (a *aimd) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	now := time.Now()
	if a.next.Before(now) {
		a.next = now
	}
	wait := a.next.Sub(now)
	a.next = a.next.Add(max(a.ceiling, time.Duration(float64(time.Second)/a.rate)))
	a.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	resp, err := a.RoundTripper.RoundTrip(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && resp.StatusCode == http.StatusOK {
		a.rate = math.Min(a.rate+1/a.rate, 1/a.ceiling.Seconds())
	} else {
		a.rate = math.Max(a.rate/2, 0.1)
	}
	return resp, err
}
