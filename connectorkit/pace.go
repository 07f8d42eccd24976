package connectorkit

import (
	"math/rand/v2"
	"time"

	"pdpp/governor"
	"pdpp/governor/governhttp"
)

// provider is one service that a run talks to: what governs it, and the one
// request path to it.
type provider struct {
	name     string
	own      bool          // it bears the connector's key
	longest  time.Duration // wait that a run makes for it; zero means any
	governor *governor.Governor
	sender   *governhttp.Sender
}

// provider gives the provider of that name and makes it at the first call. An
// empty name is the connector's key. What is not adjusted is as governor.Default
// has it; the owner's variables have the last word.
func (r *run) provider(name string, adjust []func(*governor.Config)) *provider {
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
	p := &provider{name: name, own: name == key}
	all := append(adjust[:len(adjust):len(adjust)], r.knobs.adjust...)
	all = append(all, paced, func(c *governor.Config) {
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

// paced keeps a ceiling of nothing from making the rate infinite. Where there is no pace,
// nothing shows that more than one request should be in flight.
func paced(c *governor.Config) {
	if c.Discovery > 0 {
		c.Ceiling = max(c.Ceiling, time.Microsecond)
	} else {
		c.Lanes = min(c.Lanes, 1)
	}
}

// main is the provider whose rate stands for the run now: the one that was last asked; before
// that the one that bears the connector's key, else the first.
func (r *run) main() *provider {
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
