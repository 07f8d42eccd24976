package connectorkit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"sync"
	"time"

	"pdpp/governor"
	"pdpp/protocol"
)

// Allowance is what a provider allows several runs together.
type Allowance struct {
	// Sender names who draws on it, as Setup.Sender does; empty means the connector's own.
	Sender string
	// Provider is what connectors call it that share it; empty means the connector's key.
	Provider string
	// Account is any text that all runs on the account have and no others: an id, an address, a token. The runner
	// is told its hash alone.
	Account string
	// Address, without an account, says that the provider counts what comes from one address.
	Address bool
}

// Allowance says whose allowance a sender draws on, so that all runs on it share one pace. It belongs into Open, as
// soon as the account is known: what is known of the allowance counts for senders that are made after it. Where
// nothing can be shared, or nobody is named, it changes nothing.
func (s *Setup) Allowance(ctx context.Context, a Allowance) error { return s.r.join(ctx, a) }

// tellEvery is the least time between two news of an allowance, but for those of a refusal.
const tellEvery = 250 * time.Millisecond

// shared are the allowances that a run draws on with others.
type shared struct {
	mu  sync.Mutex
	all map[string]*drawing // by sender
	now func() time.Time
}

// drawing is a sender that draws on one.
type drawing struct {
	sender   string
	wake     chan struct{}      // something is to be told at once, or the part has changed
	governor *governor.Governor // nil until the sender is made
	learned  *governor.Learned
	share    governor.Share
	news     []governor.PeerUpdate // that came before
}

// join asks for a part, and tells the others from then on.
func (r *run) join(ctx context.Context, a Allowance) error {
	key := r.c.Manifest.Key()
	d := &drawing{sender: cmp.Or(a.Sender, key), wake: make(chan struct{}, 1)}
	if p := r.named(d.sender); p != nil {
		d.governor = p.governor
	}
	if !r.start.Allowances || (a.Account != "") == a.Address || !r.shared.add(d) {
		return nil
	}
	_, err := r.ask(ctx, protocol.TypeAllowanceShare, func(id string) protocol.Message {
		return &protocol.Allowance{
			RequestID: id, Sender: d.sender, Provider: cmp.Or(a.Provider, key), Account: hashed(a.Account), Address: a.Address,
		}
	})
	if err != nil {
		return err
	}
	go r.tell(ctx, d)
	return nil
}

// hashed keeps what may be a secret from leaving the process; nothing stays nothing.
func hashed(account string) string {
	if account == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(account))
	return hex.EncodeToString(sum[:])
}

// add reports whether the sender draws on nothing yet.
func (s *shared) add(d *drawing) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[d.sender] != nil || len(s.all) == protocol.MaxAllowances {
		return false
	}
	if s.all == nil {
		s.all = map[string]*drawing{}
	}
	s.all[d.sender] = d
	return true
}

// govern makes the governor of a sender keep to its part; nil when the sender draws on no allowance.
func (s *shared) govern(sender string, g *governor.Governor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[sender]; d != nil && d.governor == nil {
		d.governor = g
		d.apply(s.now())
	}
}

// known is what runs before this one learned of the sender's allowance.
func (s *shared) known(sender string) *governor.Learned {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[sender]; d != nil {
		return d.learned
	}
	return nil
}

// hear takes in what the runner says; false for what was not asked for.
func (s *shared) hear(m *protocol.AllowanceShare) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.all[m.Sender]
	if d == nil {
		return false
	}
	now := s.now()
	d.share = governor.Share{Runs: m.Runs, Place: m.Place}
	if l, fresh := governor.RestoreLearned(m.Learned, now); fresh {
		d.learned = &l
	}
	for _, told := range m.News {
		if n, ok := governor.ParsePeerUpdate(told.Numbers); ok {
			n.From, n.Share = uint64(told.From), governor.Share{Runs: told.Runs, Place: told.Place}
			d.news = append(d.news, n)
		}
	}
	d.apply(now)
	d.rouse()
	return true
}

// apply hands over what the governor does not know yet.
func (d *drawing) apply(now time.Time) {
	if d.governor == nil || d.share.Runs == 0 {
		return
	}
	d.governor.SetShare(now, d.share)
	for _, n := range d.news {
		d.governor.ApplyPeerUpdate(now, n)
	}
	d.news = nil
}

func (d *drawing) rouse() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// rouse has the news of a sender told at once.
func (s *shared) rouse(sender string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[sender]; d != nil {
		d.rouse()
	}
}

// teller is the governor whose news are to be told; nil while nobody is there to hear them.
func (s *shared) teller(d *drawing) *governor.Governor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.share.Runs < 2 {
		return nil
	}
	return d.governor
}

// tell tells the other runs what this one finds out, for as long as there are any.
func (r *run) tell(ctx context.Context, d *drawing) {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		g := r.shared.teller(d)
		if g == nil {
			tick.Stop()
		} else {
			r.out.offerMade(ctx, func() protocol.Message {
				if n, news := g.PeerUpdate(r.p.Now()); news {
					return &protocol.Allowance{Sender: d.sender, News: finite(n.Fields())}
				}
				return nil
			})
			tick.Reset(tellEvery)
		}
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		case <-tick.C:
		}
	}
}

// tellLearned leaves what was learned to the runs that come after this one.
func (r *run) tellLearned(ctx context.Context) error {
	for _, p := range r.providers {
		l, ok := p.governor.Snapshot(r.p.Now())
		if !ok || !r.shared.draws(p.name) {
			continue
		}
		if err := r.out.send(ctx, &protocol.Allowance{Sender: p.name, Learned: finite(l.Fields())}); err != nil {
			return err
		}
	}
	return nil
}

func (s *shared) draws(sender string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[sender] != nil
}

// finite leaves out what JSON has no numbers for.
func finite(fields map[string]float64) protocol.Numbers {
	for name, n := range fields {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			delete(fields, name)
		}
	}
	return fields
}
