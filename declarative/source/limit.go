package source

import (
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// limitShare is the part of a declared limit that is used: others may use the same account.
const limitShare = 0.9

// mostLanes bounds the requests at the same time of a document that declares no number. The governor opens lanes only
// while the provider bears them, and the owner may allow fewer.
const mostLanes = 4

// setPace makes the tightest declared limit the upper bound of the pace, and the declared concurrency that of the
// lanes. The governor may learn a slower pace.
func (p *program) setPace(s *connectorkit.Setup, o *governhttp.Options) error {
	state := p.newState(s)
	if state.problem != nil {
		return state.problem
	}
	var shortest time.Duration
	if p.Document.Budget != nil {
		shortest = state.shortestInterval(p.Document.Budget)
	}
	lanes := state.laneLimit(p.Document.Concurrency)
	o.Sender = s.Sender("", func(c *governor.Config) {
		if c.Lanes = lanes; shortest > 0 {
			c.Ceiling, c.Discovery = shortest, max(c.Discovery, shortest)
		}
	})
	return nil
}

// laneLimit returns how many requests may be in flight. A document can lower the number only.
func (state *runState) laneLimit(declared *document.Concurrency) int {
	out := mostLanes
	if declared == nil {
		return out
	}
	if declared.Most > 0 {
		out = min(out, declared.Most)
	}
	v, err := declared.Default.Value(state.context(declared))
	if n, ok := v.Int64(); err == nil && ok && n > 0 {
		out = int(min(int64(out), n))
	}
	return out
}

// shortestInterval returns the time between two requests at the tightest limit, or zero without one. Limits of some
// requests only bound all of them.
func (state *runState) shortestInterval(b *document.APIBudget) time.Duration {
	var out time.Duration
	for _, policy := range b.Policies {
		switch w := policy.(type) {
		case *document.MovingWindow:
			for _, rate := range w.Rates {
				out = max(out, state.intervalOf(rate, rate.Limit, rate.Interval))
			}
		case *document.FixedWindow:
			out = max(out, state.intervalOf(w, w.Limit, w.Period))
		}
	}
	return out
}

// intervalOf returns the time between two requests at a limit. A limit that cannot be read is none.
func (state *runState) intervalOf(c document.Component, limit document.Template, period string) time.Duration {
	v, err := limit.Value(state.context(c))
	if err != nil {
		return 0
	}
	n, ok := v.Int64()
	d, err := expression.ParseDuration(period)
	if err != nil || !ok || n < 1 {
		return 0
	}
	begin := time.Unix(0, 0).UTC()
	end, err := d.After(begin)
	if err != nil {
		return 0
	}
	return time.Duration(float64(end.Sub(begin)) / (limitShare * float64(n)))
}
