package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// collector is a run with as many workers as requests may be in flight. Like a
// slot of governhttp.Sender, a worker keeps its call until that has a final
// outcome or stops; then it begins a new one.
type collector struct {
	g       *governor.Governor
	epoch   time.Time
	waiting []*governor.Call         // to be repeated, in the order they were refused
	flying  map[int64]*governor.Call // by the harness's number of the transmission
	workers int
	sent    int64 // transmissions so far; the harness numbers them from one
}

func newCollector(m message) *collector {
	c := &collector{
		epoch: time.Unix(m.EpochUnix, 0), flying: map[int64]*governor.Call{}, workers: max(1, m.InFlight),
	}
	c.g = governor.New("bench", func(g *governor.Config) {
		g.Ceiling, g.Discovery = time.Duration(m.Ceiling), time.Duration(m.Discovery)
		g.Seed, g.MaxWait = m.Seed, 0
		g.Learned = m.Restored.learned(c.clock(m.Now))
	})
	return c
}

// learned restores a snapshot as a connector would from its cursor. The harness starts each run at
// the same instant, against an idle provider, so the snapshot counts as one hour old.
func (s *snapshot) learned(now time.Time) *governor.Learned {
	if s == nil {
		return nil
	}
	fields := map[string]float64{governor.FieldInterval: float64(s.Interval) / float64(time.Millisecond)}
	maps.Copy(fields, s.Extra)
	fields[governor.FieldRecorded] = float64(now.Add(-time.Hour).UnixMilli())
	if l, ok := governor.RestoreLearned(fields, now); ok {
		return &l
	}
	return nil
}

func (c *collector) clock(now int64) time.Time { return c.epoch.Add(time.Duration(now)) }

// next asks for each call that could be sent. It never commits to a send ahead
// of time, because an answer may arrive meanwhile.
func (c *collector) next(now int64) decision {
	soonest := int64(0)
	later := func(d time.Duration) {
		if d > 0 && (soonest == 0 || int64(d) < soonest) {
			soonest = int64(d)
		}
	}
	kept := c.waiting[:0]
	var admitted *governor.Call
	for _, call := range c.waiting {
		if admitted != nil {
			kept = append(kept, call)
			continue
		}
		wait, err := call.Next(c.clock(now))
		switch {
		case err != nil: // the call stops and frees its worker
		case wait > 0:
			later(wait)
			kept = append(kept, call)
		default:
			admitted = call
		}
	}
	c.waiting = kept
	if admitted == nil && len(c.waiting)+len(c.flying) < c.workers {
		call := c.g.Call()
		wait, err := call.Next(c.clock(now))
		var denied *governor.DeniedError
		switch {
		case errors.As(err, &denied):
			later(denied.In)
		case wait > 0:
			later(wait)
		default:
			admitted = &call
		}
	}
	if admitted == nil {
		return decision{Wait: soonest}
	}
	c.sent++
	c.flying[c.sent] = admitted
	return decision{Send: true}
}

// observe reads the answer as the client does and passes it to its call.
func (c *collector) observe(m message) error {
	call := c.flying[m.ID]
	if call == nil {
		return fmt.Errorf("answer to transmission %d, which is not in flight", m.ID)
	}
	delete(c.flying, m.ID)
	now := c.clock(m.Now)
	outcome := governor.Outcome{Kind: governor.Failed, Sent: c.clock(m.SentAt)}
	if m.Status != 0 {
		r := governhttp.Response{Status: m.Status, Header: http.Header{}}
		for name, value := range m.Headers {
			r.Header.Set(name, value)
		}
		r.RetryAfter, r.HasRetryAfter = governhttp.ReadRetryAfter(r.Header, now)
		r.Quota = governhttp.ReadQuota(r.Header, now)
		outcome.Kind, outcome.RetryAfter = governhttp.Meaning(&r), r.RetryAfter
		outcome.HasRetryAfter, outcome.Quota = r.HasRetryAfter, r.Quota
	}
	if again, _ := call.Observe(now, outcome); again {
		c.waiting = append(c.waiting, call)
	}
	return nil
}

func (c *collector) snapshot(now int64) snapshot {
	l, ok := c.g.Snapshot(c.clock(now))
	if !ok {
		return snapshot{}
	}
	return snapshot{Interval: int64(l.Interval), Extra: l.Fields()}
}
