package connectorkit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/protocol"
)

// SharedQuota identifies a quota that several runs share.
type SharedQuota struct {
	// Sender is the sender that uses the quota, as in Setup.Sender. Empty means the connector's own.
	Sender string
	// Provider is the name that connectors use to share the quota. Empty means the connector's key.
	Provider string
	// Account is a text that only the runs on the account have: an id, an address, a token. The runner gets only
	// its hash.
	Account string
	// Address, without an account, means that the provider counts requests by network address.
	Address bool
}

// SharedQuota declares which quota a sender uses, so that all runs on it share one pace. Call it in Open as soon
// as the account is known; it affects senders that are created later. It has no effect if the runner cannot share
// quotas or a names none.
func (s *Setup) SharedQuota(ctx context.Context, a SharedQuota) error { return s.r.join(ctx, a) }

// updateInterval is the minimum time between two updates, except after a refusal.
const updateInterval = 250 * time.Millisecond

// sharedQuotas contains the quotas that a run shares with others.
type sharedQuotas struct {
	mu  sync.Mutex
	all map[string]*quotaMember // by sender
	now func() time.Time
}

// quotaMember is a sender that uses a shared quota.
type quotaMember struct {
	sender   string
	wake     chan struct{}      // an update is urgent, or the share has changed
	governor *governor.Governor // nil until the sender is created
	learned  *governor.Learned
	share    governor.Share
	news     []governor.PeerUpdate // updates that arrived before the governor
}

// join requests a share, and reports to the other runs from then on.
func (r *runState) join(ctx context.Context, a SharedQuota) error {
	key := r.c.Manifest.Key()
	d := &quotaMember{sender: cmp.Or(a.Sender, key), wake: make(chan struct{}, 1)}
	if p := r.named(d.sender); p != nil {
		d.governor = p.governor
	}
	if !r.start.Allowances || (a.Account != "") == a.Address || !r.shared.add(d) {
		return nil
	}
	_, err := r.ask(ctx, protocol.TypeAllowanceShare, func(id string) protocol.Message {
		return &protocol.Allowance{
			RequestID: id,
			Sender:    d.sender,
			Provider:  cmp.Or(a.Provider, key),
			Account:   hashAccount(a.Account),
			Address:   a.Address,
		}
	})
	if err != nil {
		return err
	}
	go r.sendUpdates(ctx, d)
	return nil
}

// hashAccount returns the hash of an account, which may be a secret. Empty stays empty.
func hashAccount(account string) string {
	if account == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(account))
	return hex.EncodeToString(sum[:])
}

// add reports whether the sender had no quota yet.
func (s *sharedQuotas) add(d *quotaMember) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[d.sender] != nil || len(s.all) == protocol.MaxAllowances {
		return false
	}
	if s.all == nil {
		s.all = map[string]*quotaMember{}
	}
	s.all[d.sender] = d
	return true
}

// govern makes the governor of a sender respect its share, if the sender uses a shared quota.
func (s *sharedQuotas) govern(sender string, g *governor.Governor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[sender]; d != nil && d.governor == nil {
		d.governor = g
		d.apply(s.now())
	}
}

// known returns what earlier runs learned about the sender's quota.
func (s *sharedQuotas) known(sender string) *governor.Learned {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[sender]; d != nil {
		return d.learned
	}
	return nil
}

// receive processes a share from the runner. It returns false for one that was not requested.
func (s *sharedQuotas) receive(m *protocol.AllowanceShare) bool {
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

// apply passes pending updates to the governor.
func (d *quotaMember) apply(now time.Time) {
	if d.governor == nil || d.share.Runs == 0 {
		return
	}
	d.governor.SetShare(now, d.share)
	for _, n := range d.news {
		d.governor.ApplyPeerUpdate(now, n)
	}
	d.news = nil
}

func (d *quotaMember) rouse() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// wakeSender makes the sender's update urgent.
func (s *sharedQuotas) wakeSender(sender string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[sender]; d != nil {
		d.rouse()
	}
}

// updateSource returns the governor with updates to send, or nil while there are no other runs.
func (s *sharedQuotas) updateSource(d *quotaMember) *governor.Governor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.share.Runs < 2 {
		return nil
	}
	return d.governor
}

// sendUpdates sends updates to the other runs while there are any.
func (r *runState) sendUpdates(ctx context.Context, d *quotaMember) {
	tick := time.NewTicker(updateInterval)
	defer tick.Stop()
	for {
		g := r.shared.updateSource(d)
		if g == nil {
			tick.Stop()
		} else {
			r.out.offerMade(ctx, func() protocol.Message {
				if n, news := g.PeerUpdate(r.p.Now()); news {
					return &protocol.Allowance{Sender: d.sender, News: finiteNumbers(n.Fields())}
				}
				return nil
			})
			tick.Reset(updateInterval)
		}
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		case <-tick.C:
		}
	}
}

// sendLearned sends the learned state for later runs.
func (r *runState) sendLearned(ctx context.Context) error {
	for _, p := range r.providers {
		l, ok := p.governor.Snapshot(r.p.Now())
		if !ok || !r.shared.draws(p.name) {
			continue
		}
		if err := r.out.send(ctx, &protocol.Allowance{Sender: p.name, Learned: finiteNumbers(l.Fields())}); err != nil {
			return err
		}
	}
	return nil
}

func (s *sharedQuotas) draws(sender string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[sender] != nil
}

// finiteNumbers removes numbers that JSON cannot represent.
func finiteNumbers(fields map[string]float64) protocol.Numbers {
	for name, n := range fields {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			delete(fields, name)
		}
	}
	return fields
}
