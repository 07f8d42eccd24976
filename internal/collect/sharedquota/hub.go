// Package sharedquota lets runs share a provider's quota that applies to all of them: the quota of an account or of a
// network address. Runs of one process exchange updates directly, runs of other processes through the store. A run is
// a member of a quota in the store for as long as it holds its lease.
//
// A Hub passes numbers on without reading them. A quota is identified by a keyed hash, which does not reveal the
// account.
package sharedquota

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Hub connects the runs of one process with each other and with the store. It is safe for concurrent use.
type Hub struct {
	Store store.Allowances
	Key   credential.Key // hashes the names of quotas; without a key runs cannot join
	Host  string         // identifies the network address that runs share
	Now   func() time.Time
	// AlwaysPoll is set in a process that is not notified when other processes join a quota.
	AlwaysPoll bool

	mu         sync.Mutex
	wake       chan struct{}
	quotas     map[string]*quota // by key, those with members of this process
	refreshing sync.Mutex
}

// ForRun returns the quotas that the run of a lease may join.
func (h *Hub) ForRun(l store.Lease) runner.SharedQuotas { return runQuotas{h, l} }

type runQuotas struct {
	hub   *Hub
	lease store.Lease
}

// quotaKey returns the keyed hash of a quota, or "" when the hub has no key.
func (h *Hub) quotaKey(c runner.QuotaClaim) string {
	who := "account\x00" + c.Account
	if c.Account == "" {
		who = "address\x00" + h.Host
	}
	return h.Key.For("allowance\x00" + c.Provider + "\x00" + who)
}

var (
	errNoKey         = errors.New("a shared quota needs a key to hash its name")
	errAlreadyMember = errors.New("the run is a member of this quota already")
)

// Join implements runner.SharedQuotas.
func (j runQuotas) Join(ctx context.Context, c runner.QuotaClaim, update func(runner.QuotaShare)) (
	runner.QuotaMember, runner.QuotaShare, error) {
	h := j.hub
	key := h.quotaKey(c)
	if key == "" {
		return nil, runner.QuotaShare{}, errNoKey
	}
	if h.isMember(key, j.lease.RunID) {
		return nil, runner.QuotaShare{}, errAlreadyMember
	}
	a, err := h.Store.JoinAllowance(ctx, j.lease, key, c.Sender, h.Now())
	if err != nil {
		return nil, runner.QuotaShare{}, err
	}
	defer h.wakePoll()
	h.mu.Lock()
	defer h.mu.Unlock()
	q := h.quotas[key]
	if q == nil {
		q = &quota{key: key, local: map[string]*member{}}
		if h.quotas == nil {
			h.quotas = map[string]*quota{}
		}
		h.quotas[key] = q
	}
	own := &member{hub: h, quota: q, runID: j.lease.RunID, update: update}
	q.local[own.runID] = own
	q.setMembers(a.Members)
	q.notify(own, nil) // the earlier members get smaller shares
	share := q.shareOf(own)
	own.last = share
	share.Learned = decodeNumbers(a.Learned)
	share.News = q.newsFor(own)
	return own, share, nil
}

func (h *Hub) isMember(key, runID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	q := h.quotas[key]
	return q != nil && q.local[runID] != nil
}

// Refresh exchanges news with the store for the quotas that other processes share: those of the runs in sharing, and
// those that were shared at the last call. A call during another call returns at once.
func (h *Hub) Refresh(ctx context.Context, sharing []string) error {
	if !h.refreshing.TryLock() {
		return nil
	}
	defer h.refreshing.Unlock()
	keys, updates := h.sharedQuotas(sharing)
	if len(keys) == 0 {
		return nil
	}
	if len(updates) > 0 {
		if err := h.Store.UpdateAllowances(ctx, updates, h.Now()); err != nil {
			return err
		}
	}
	all, err := h.Store.Allowances(ctx, keys, h.Now())
	if err != nil {
		return err
	}
	defer h.wakePoll()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range all {
		if q := h.quotas[a.Key]; q != nil {
			q.notify(nil, q.setMembers(a.Members))
		}
	}
	return nil
}

// sharedQuotas returns the keys of quotas with members in other processes, and the news that the store does not have.
func (h *Hub) sharedQuotas(sharing []string) (keys []string, updates []store.AllowanceUpdate) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, q := range h.quotas {
		wanted := q.remote
		for _, id := range sharing {
			wanted = wanted || q.local[id] != nil
		}
		if !wanted {
			continue
		}
		keys = append(keys, key)
		for _, own := range q.local {
			if t, news := own.takeUpdate(); news {
				updates = append(updates, t)
			}
		}
	}
	return keys, updates
}

const (
	// sharedInterval is the time between refreshes of a quota that other processes share. A refusal reaches all
	// processes before two more follow.
	sharedInterval = 250 * time.Millisecond
	// discoveryInterval is the time between checks for members of other processes with AlwaysPoll.
	discoveryInterval = time.Second
)

// Poll refreshes while other processes share a quota, until ctx ends. A process without such a quota learns of new
// members through a call of Refresh, or by polling with AlwaysPoll.
func (h *Hub) Poll(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if pause := h.pollInterval(); pause > 0 {
			timer.Reset(pause)
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return
		case <-h.wakeChannel():
			continue
		case <-timer.C:
		}
		var own []string
		if h.AlwaysPoll {
			own = h.runIDs()
		}
		_ = h.Refresh(ctx, own) // the runs report a failing store when they write to it
	}
}

// pollInterval returns the time until the next refresh, or zero when none is needed.
func (h *Hub) pollInterval() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range h.quotas {
		if q.remote {
			return sharedInterval
		}
	}
	if h.AlwaysPoll && len(h.quotas) > 0 {
		return discoveryInterval
	}
	return 0
}

// wakeChannel returns the channel that wakes Poll.
func (h *Hub) wakeChannel() chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.wake == nil {
		h.wake = make(chan struct{}, 1)
	}
	return h.wake
}

func (h *Hub) wakePoll() {
	select {
	case h.wakeChannel() <- struct{}{}:
	default:
	}
}

func (h *Hub) runIDs() (ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range h.quotas {
		for id := range q.local {
			ids = append(ids, id)
		}
	}
	return ids
}

// decodeNumbers parses stored numbers. It returns nil for invalid ones.
func decodeNumbers(v jsontext.Value) protocol.Numbers {
	var n protocol.Numbers
	if len(v) == 0 || json.Unmarshal(v, &n) != nil {
		return nil
	}
	return n
}

func encodeNumbers(n protocol.Numbers) jsontext.Value {
	if len(n) == 0 {
		return nil
	}
	v, err := json.Marshal(n, json.Deterministic(true))
	if err != nil {
		return nil // not a JSON number, such as infinity
	}
	return v
}
