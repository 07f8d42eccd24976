package runstate

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

// SharedQuota identifies a quota that several runs share: see connectorkit.SharedQuota.
type SharedQuota struct {
	Sender, Provider, Account string
	Address                   bool
}

// JoinSharedQuota requests a share, and reports to the other runs from then on.
func (r *Run) JoinSharedQuota(ctx context.Context, a SharedQuota) error {
	key := r.Manifest.Key()
	d := &quotaMember{sender: cmp.Or(a.Sender, key), wake: make(chan struct{}, 1)}
	if p := r.providerNamed(d.sender); p != nil {
		d.governor = p.Governor
	}
	if !r.Start.Allowances || (a.Account != "") == a.Address || !r.shared.addMember(d) {
		return nil
	}
	_, err := r.RequestReply(ctx, protocol.TypeAllowanceShare, func(id string) protocol.Message {
		return &protocol.Allowance{
			RequestID: id,
			Sender:    d.sender,
			Provider:  cmp.Or(a.Provider, key),
			Account:   HashAccount(a.Account),
			Address:   a.Address,
		}
	})
	if err != nil {
		return err
	}
	go r.sendUpdates(ctx, d)
	return nil
}

// HashAccount returns the hash of an account, which may be a secret. Empty stays empty.
func HashAccount(account string) string {
	if account == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(account))
	return hex.EncodeToString(sum[:])
}

// addMember reports whether the sender had no quota yet.
func (s *sharedQuotas) addMember(d *quotaMember) bool {
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

// governSender makes the governor of a sender respect its share, if the sender uses a shared quota.
func (s *sharedQuotas) governSender(sender string, g *governor.Governor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[sender]; d != nil && d.governor == nil {
		d.governor = g
		d.applyUpdates(s.now())
	}
}

// learnedState returns what earlier runs learned about the sender's quota.
func (s *sharedQuotas) learnedState(sender string) *governor.Learned {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[sender]; d != nil {
		return d.learned
	}
	return nil
}

// receiveShare processes a share from the runner. It returns false for one that was not requested.
func (s *sharedQuotas) receiveShare(m *protocol.AllowanceShare) bool {
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
	for _, allowanceNews := range m.News {
		if n, ok := governor.ParsePeerUpdate(allowanceNews.Numbers); ok {
			n.From, n.Share = uint64(allowanceNews.From), governor.Share{Runs: allowanceNews.Runs, Place: allowanceNews.Place}
			d.news = append(d.news, n)
		}
	}
	d.applyUpdates(now)
	d.wakeUpdates()
	return true
}

// applyUpdates passes pending updates to the governor.
func (d *quotaMember) applyUpdates(now time.Time) {
	if d.governor == nil || d.share.Runs == 0 {
		return
	}
	d.governor.SetShare(now, d.share)
	for _, n := range d.news {
		d.governor.ApplyPeerUpdate(now, n)
	}
	d.news = nil
}

func (d *quotaMember) wakeUpdates() {
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
		d.wakeUpdates()
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
func (r *Run) sendUpdates(ctx context.Context, d *quotaMember) {
	tick := time.NewTicker(updateInterval)
	defer tick.Stop()
	for {
		g := r.shared.updateSource(d)
		if g == nil {
			tick.Stop()
		} else {
			r.Out.OfferCreated(ctx, func() protocol.Message {
				if n, news := g.PeerUpdate(r.Now()); news {
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
func (r *Run) sendLearned(ctx context.Context) error {
	for _, p := range r.Providers {
		l, ok := p.Governor.Snapshot(r.Now())
		if !ok || !r.shared.usesSharedQuota(p.name) {
			continue
		}
		if err := r.Out.Send(ctx, &protocol.Allowance{Sender: p.name, Learned: finiteNumbers(l.Fields())}); err != nil {
			return err
		}
	}
	return nil
}

func (s *sharedQuotas) usesSharedQuota(sender string) bool {
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
