package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"pdpp/governor"
	"pdpp/governor/governhttp"
	"pdpp/internal/lab/nginxtest"
)

// limiter is one way in which nginx limits, and how many requests the client
// has under way at once.
type limiter struct {
	name     string
	limit    nginxtest.Limit
	inFlight int
}

const nginxRate = 40 // requests per second

var limiters = []limiter{
	{"no burst", nginxtest.Limit{Rate: nginxRate}, 1},
	{"burst", nginxtest.Limit{Rate: nginxRate, Burst: 5}, 1},
	{"held burst", nginxtest.Limit{Rate: nginxRate, Burst: 5, Hold: true}, 1},
	{"held burst, 8 in flight", nginxtest.Limit{Rate: nginxRate, Burst: 5, Hold: true}, 8},
	{"no burst, Retry-After", nginxtest.Limit{Rate: nginxRate, RetryAfter: 1}, 1},
}

// How the client approaches nginx: cold, with what the cold run learned, and
// without a pace.
const (
	cold = iota
	warm
	unpaced
	approaches
)

// tally is what one client got in one run.
type tally struct{ served, refused atomic.Int64 }

// measureNginx compares the goodput of the real client with the rate that a real
// nginx is configured to. The limiters are measured side by side: a few dozen
// requests a second do not disturb each other.
func measureNginx(ctx context.Context, c config, dir string, r *report) error {
	if c.Nginx == "" {
		fmt.Println("nginx is left out: give --nginx or run make bench")
		return nil
	}
	results := make([][approaches][]*tally, len(limiters))
	failed := make([]error, len(limiters))
	var all sync.WaitGroup
	for i, l := range limiters {
		all.Go(func() {
			for round := range c.Rounds {
				one, err := l.measure(ctx, c, dir, uint64(round))
				if err != nil {
					failed[i] = fmt.Errorf("nginx, %s: %w", l.name, err)
					return
				}
				for a, t := range one {
					results[i][a] = append(results[i][a], t)
				}
			}
		})
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	for i, l := range limiters {
		x := limited{Rate: float64(l.limit.Rate)}
		x.UnpacedRatio, x.UnpacedRefused = summary(results[i][unpaced], x.Rate, c)
		x.Name, x.Want, x.WantRefused = "nginx, "+l.name+": cold", 0.25, 20
		x.Ratio, x.Refused = summary(results[i][cold], x.Rate, c)
		r.limit(x)
		x.Name, x.Want, x.WantRefused = "nginx, "+l.name+": warm", 0.75, 5
		x.Ratio, x.Refused = summary(results[i][warm], x.Rate, c)
		r.limit(x)
	}
	return nil
}

// summary is the median goodput as a share of the rate, and the median of the
// refusals per thousand served.
func summary(rounds []*tally, rate float64, c config) (ratio, refused float64) {
	var ratios, refusals []float64
	for _, t := range rounds {
		served := float64(t.served.Load())
		ratios = append(ratios, served/c.NginxTime.Seconds()/rate)
		refusals = append(refusals, 1000*float64(t.refused.Load())/max(1, served))
	}
	return median(ratios), median(refusals)
}

// measure lets each approach loose on an nginx that nobody has asked before.
func (l limiter) measure(ctx context.Context, c config, dir string, seed uint64) (out [approaches]*tally, err error) {
	var learned *governor.Learned
	for a := range out {
		adjust := func(g *governor.Config) {
			g.Discovery, g.Ceiling, g.Seed, g.Learned = 100*time.Millisecond, 5*time.Millisecond, seed, nil
			switch a {
			case warm:
				g.Learned = learned
			case unpaced: // a base that suits the rate, and nothing that gives up
				g.Discovery, g.Backoff, g.Attempts = 0, 100*time.Millisecond, 1000
				g.Retries, g.Breaker.Off = governor.RetryBudget{}, true
			}
		}
		g := governor.New("nginx", adjust)
		if out[a], err = l.run(ctx, c, dir, g); err != nil {
			return out, err
		}
		if found, ok := g.Snapshot(time.Now()); ok && a == cold {
			if found, ok = governor.Restore(found.Fields(), time.Now()); ok {
				learned = &found
			}
		}
	}
	return out, nil
}

// run fetches for the time of one measurement.
func (l limiter) run(ctx context.Context, c config, dir string, g *governor.Governor) (t *tally, err error) {
	own, err := os.MkdirTemp(dir, "nginx-")
	if err != nil {
		return nil, err
	}
	s, err := nginxtest.Run(c.Nginx, own, l.limit, 1)
	if err != nil {
		return nil, err
	}
	defer func() {
		if _, stopErr := s.Stop(); stopErr != nil {
			err = errors.Join(err, stopErr)
		}
	}()
	timed, cancel := context.WithTimeout(ctx, c.NginxTime)
	defer cancel()
	t = new(tally)
	most := int64(10 * float64(l.limit.Rate) * c.NginxTime.Seconds()) // whatever a client does, nginx is not flooded
	sender := governhttp.NewSender(g, governhttp.SenderOptions{InFlight: l.inFlight})
	client, err := governhttp.New(governhttp.Options{
		BaseURL: s.URL, Transport: counting{t, new(http.Transport), most, cancel}, Sender: sender,
	})
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

// fetchUntilDone asks for one item again and again. A request that is given up
// is asked for again like any other, after the rest that its end asks for.
func fetchUntilDone(ctx context.Context, client *governhttp.Client, sender *governhttp.Sender) error {
	for ctx.Err() == nil {
		_, err := client.Get(ctx, nginxtest.Path(0), nil)
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

// counting counts the answers of nginx, and stops when there are too many.
type counting struct {
	*tally
	http.RoundTripper
	most int64
	stop func()
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	switch {
	case err != nil:
	case resp.StatusCode == http.StatusOK:
		c.served.Add(1)
	case resp.StatusCode == http.StatusTooManyRequests:
		c.refused.Add(1)
	}
	if c.served.Load()+c.refused.Load() >= c.most {
		c.stop()
	}
	return resp, err
}
