package connectorkit

import (
	"math/rand/v2"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// runProvider is one service that a run uses: its governor and its only request path.
type runProvider struct {
	name     string
	own      bool          // it has the connector's key
	longest  time.Duration // longest wait of a run; zero means no limit
	governor *governor.Governor
	sender   *governhttp.Sender
}

// provider returns the provider with the name and creates it at the first call. An empty name means the
// connector's key. The settings are those of governor.DefaultConfig, then adjust, then the owner's variables.
func (r *runState) provider(name string, adjust []func(*governor.Config)) *runProvider {
	key := r.c.Manifest.Key()
	if name == "" {
		name = key
	}
	for _, p := range r.providers {
		if p.name == name {
			if len(adjust) > 0 {
				r.log.Warn("provider exists already: adjustments are ignored", "provider", name)
			}
			return p
		}
	}
	p := &runProvider{name: name, own: name == key}
	all := append(adjust[:len(adjust):len(adjust)], r.knobs.adjust...)
	all = append(all, limitCeiling, func(c *governor.Config) {
		c.Run, c.Learned, c.Seed = &r.budget, r.learned(p), rand.Uint64()
		p.longest = c.MaxWait
	})
	p.governor = governor.New(name, all...)
	p.sender = governhttp.NewSender(p.governor, governhttp.SenderOptions{
		Now: r.p.Now, Waiting: r.waiting, Quiet: r.quiet, Probe: func(governhttp.Trail) {
			r.sent.Add(1)
			r.busy.Store(p)
		},
	})
	r.providers = append(r.providers, p)
	r.shared.govern(name, p.governor)
	return p
}

// limitCeiling prevents a ceiling of zero from making the rate infinite. Without pacing nothing shows that more than
// one request should be in flight.
func limitCeiling(c *governor.Config) {
	if c.Discovery > 0 {
		c.Ceiling = max(c.Ceiling, time.Microsecond)
	} else {
		c.Lanes = min(c.Lanes, 1)
	}
}

// main returns the provider that represents the run's rate: the one that was used last, before that the one with
// the connector's key, otherwise the first.
func (r *runState) main() *runProvider {
	if p := r.busy.Load(); p != nil {
		return p
	}
	for _, p := range r.providers {
		if p.own {
			return p
		}
	}
	if len(r.providers) > 0 {
		return r.providers[0]
	}
	return nil
}
