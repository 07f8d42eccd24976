package runner

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// SharedQuotas lets runs share a provider's limit that applies to all of them together.
type SharedQuotas interface {
	// Join adds the run to a quota and returns its share. Afterwards it calls update, from any goroutine, whenever
	// the share changes or other runs have news. update does not block.
	Join(ctx context.Context, c QuotaClaim, update func(QuotaShare)) (QuotaMember, QuotaShare, error)
}

// QuotaClaim is the quota that a connector's sender uses. Provider and account are neither stored nor logged.
type QuotaClaim struct {
	Sender   string // the sender that uses the quota
	Provider string
	Account  string // empty: the quota of this machine's network address
}

// QuotaShare is a run's share of a quota: the number of runs and the position of this one.
type QuotaShare struct {
	Runs, Place int
	Learned     protocol.Numbers // by earlier runs; only in the result of Join
	News        []protocol.AllowanceNews
}

// QuotaMember is the membership of one run in a quota, until it leaves.
type QuotaMember interface {
	// Publish passes the connector's news and learned numbers to current and later runs. It does not block.
	Publish(news, learned protocol.Numbers)
	Leave(ctx context.Context)
}

const (
	// quotaTimeout bounds Join and Leave: a run that does not share is better than a run that waits.
	quotaTimeout = 5 * time.Second
	// quotaUpdateInterval is the least time between two updates to a connector. Later news are merged.
	quotaUpdateInterval = 100 * time.Millisecond
	// A run may publish quotaPublishBurst times in a row, and once per quotaPublishInterval in the long run.
	// Further news are dropped: each news contains everything of the ones before.
	quotaPublishInterval, quotaPublishBurst = 100 * time.Millisecond, 20
)

// quotaMembers are the quotas that the run has joined.
type quotaMembers struct {
	bySender      map[string]*quotaSender
	recent        float64 // publications that still count against the burst
	lastPublished time.Time
}

// mayPublish reports whether another publication is within the rate, and counts it.
func (q *quotaMembers) mayPublish(now time.Time) bool {
	q.recent = max(0, q.recent-float64(now.Sub(q.lastPublished))/float64(quotaPublishInterval))
	q.lastPublished = now
	if q.recent >= quotaPublishBurst {
		return false
	}
	q.recent++
	return true
}

// leaveAll ends the run's membership in all quotas.
func (q *quotaMembers) leaveAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, quotaTimeout)
	defer cancel()
	for _, sender := range q.bySender {
		sender.Leave(ctx)
	}
}

// onAllowance joins a quota, or publishes the connector's news about one.
func (s *session) onAllowance(ctx context.Context, m *protocol.Allowance) error {
	sender := s.quotas.bySender[m.Sender]
	switch {
	case s.spec.SharedQuotas == nil:
		return invalidField(m, "", "no ALLOWANCE: START does not say that it is understood")
	case m.RequestID == "" && sender == nil:
		return invalidField(m, "", "news of a sender that draws on an allowance")
	case m.RequestID == "":
		if s.quotas.mayPublish(time.Now()) {
			sender.Publish(m.News, m.Learned)
		}
		return nil
	case sender != nil:
		return invalidField(m, "", "one allowance of each sender")
	case len(s.quotas.bySender) == protocol.MaxAllowances:
		return invalidField(m, "", "at most 8 allowances of a run")
	}
	sender = &quotaSender{conv: &s.conv, name: m.Sender, wake: make(chan struct{}, 1),
		news: map[int64]protocol.AllowanceNews{}}
	ctx, cancel := context.WithTimeout(ctx, quotaTimeout)
	defer cancel()
	claim := QuotaClaim{Sender: m.Sender, Provider: m.Provider, Account: m.Account}
	member, share, err := s.spec.SharedQuotas.Join(ctx, claim, sender.update)
	if err != nil {
		member, share = unsharedQuota{}, QuotaShare{Runs: 1}
	}
	sender.QuotaMember = member
	if s.quotas.bySender == nil {
		s.quotas.bySender = map[string]*quotaSender{}
	}
	s.quotas.bySender[m.Sender] = sender
	s.conv.send("allowance_share", &protocol.AllowanceShare{RequestID: m.RequestID, Sender: m.Sender,
		Runs: share.Runs, Place: share.Place, Learned: share.Learned, News: share.News})
	s.conv.background.Go(sender.deliver)
	return nil
}

// unsharedQuota is the membership of a run that could not join.
type unsharedQuota struct{}

func (unsharedQuota) Publish(_, _ protocol.Numbers) {}
func (unsharedQuota) Leave(_ context.Context)       {}

// quotaSender is one sender's membership, with the updates that its connector has not received yet.
type quotaSender struct {
	QuotaMember
	conv *conversation
	name string
	wake chan struct{}

	mu    sync.Mutex
	share QuotaShare
	news  map[int64]protocol.AllowanceNews // the newest of each run
}

func (q *quotaSender) update(share QuotaShare) {
	q.mu.Lock()
	q.share = share
	for _, n := range share.News {
		q.news[n.From] = n
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// deliver sends pending updates to the connector until the conversation is over.
func (q *quotaSender) deliver() {
	over := q.conv.over.Done()
	for {
		select {
		case <-over:
			return
		case <-q.wake:
		}
		line, err := protocol.AppendLine(nil, q.pending())
		if err != nil {
			continue // the next update contains it too
		}
		select {
		case <-over:
			return
		case q.conv.outgoing <- outgoingLine{"allowance_share", line}:
		}
		pause := time.NewTimer(quotaUpdateInterval)
		select {
		case <-over:
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// pending returns the message with the latest share and all news since the last call.
func (q *quotaSender) pending() *protocol.AllowanceShare {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := &protocol.AllowanceShare{Sender: q.name, Runs: q.share.Runs, Place: q.share.Place,
		News: slices.Collect(maps.Values(q.news))}
	clear(q.news)
	return m
}
