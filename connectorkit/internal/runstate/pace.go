package runstate

import (
	"math/rand/v2"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// RunProvider is one service that a run uses: its governor and its only request path.
type RunProvider struct {
	name     string
	own      bool          // it has the connector's key
	longest  time.Duration // longest wait of a run; zero means no limit
	Governor *governor.Governor
	Sender   *governhttp.Sender
}

// ProviderFor returns the provider with the name and creates it at the first call. An empty name means the
// connector's key. The settings are those of governor.DefaultConfig, then adjust, then the owner's variables.
func (r *Run) ProviderFor(name string, adjust []func(*governor.Config)) *RunProvider {
	key := r.Manifest.Key()
	if name == "" {
		name = key
	}
	for _, p := range r.Providers {
		if p.name == name {
			if len(adjust) > 0 {
				r.Log.Warn("provider exists already: adjustments are ignored", "provider", name)
			}
			return p
		}
	}
	p := &RunProvider{name: name, own: name == key}
	all := append(adjust[:len(adjust):len(adjust)], r.Knobs.Adjustments...)
	all = append(all, LimitCeiling, func(c *governor.Config) {
		c.Run, c.Learned, c.Seed = &r.Budget, r.learnedPace(p), rand.Uint64()
		p.longest = c.MaxWait
	})
	p.Governor = governor.New(name, all...)
	p.Sender = governhttp.NewSender(p.Governor, governhttp.SenderOptions{
		Now: r.Now, Waiting: r.announceWait, Quiet: r.reportQuiet, Probe: func(governhttp.Trail) {
			r.sent.Add(1)
			r.busy.Store(p)
		},
	})
	r.Providers = append(r.Providers, p)
	r.shared.governSender(name, p.Governor)
	return p
}

// LimitCeiling prevents a ceiling of zero from making the rate infinite. Without pacing nothing shows that more than
// one request should be in flight.
func LimitCeiling(c *governor.Config) {
	if c.Discovery > 0 {
		c.Ceiling = max(c.Ceiling, time.Microsecond)
	} else {
		c.Lanes = min(c.Lanes, 1)
	}
}

// MainProvider returns the provider that represents the run's rate: the one that was used last, before that the one
// with the connector's key, otherwise the first.
func (r *Run) MainProvider() *RunProvider {
	if p := r.busy.Load(); p != nil {
		return p
	}
	for _, p := range r.Providers {
		if p.own {
			return p
		}
	}
	if len(r.Providers) > 0 {
		return r.Providers[0]
	}
	return nil
}

// LaneCount returns how many requests to the current provider may be in flight.
func (r *Run) LaneCount() int {
	p := r.MainProvider()
	if p == nil {
		return 1
	}
	open, _ := p.Governor.Lanes()
	return max(1, open)
}
