// Package allowance lets runs share what a provider allows all of them together: the same account, or the same
// address. Runs of one process hear each other at once; those of others through the store, where a run draws on an
// allowance for as long as it holds its lease.
//
// A Hub passes numbers on and reads none of them. An allowance is known by a keyed hash, so that nothing tells
// whose it is.
package allowance

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Hub is where the runs of one process meet.
type Hub struct {
	Store store.Allowances
	Key   credential.Key // makes the names of allowances; without one there are none
	Host  string         // is what runs have in common that draw on the allowance of an address
	Now   func() time.Time
	// Unaided is a process that has nobody who calls Look when others come.
	Unaided bool

	mu      sync.Mutex
	wake    chan struct{}
	drawn   map[string]*drawn // by key, those that runs of this process draw on
	looking sync.Mutex
}

// Of gives the run of a lease its way to join.
func (h *Hub) Of(l store.Lease) runner.Allowances { return joiner{h, l} }

type joiner struct {
	hub   *Hub
	lease store.Lease
}

// keyOf names an allowance without telling whose it is; empty when there is no key.
func (h *Hub) keyOf(c runner.Claim) string {
	who := "account\x00" + c.Account
	if c.Account == "" {
		who = "address\x00" + h.Host
	}
	return h.Key.For("allowance\x00" + c.Provider + "\x00" + who)
}

var (
	errNoKey = errors.New("without a key allowances have no names")
	errTwice = errors.New("the run draws on this allowance already")
)

func (j joiner) Join(ctx context.Context, c runner.Claim, hear func(runner.Part)) (runner.Drawing, runner.Part, error) {
	h := j.hub
	key := h.keyOf(c)
	if key == "" {
		return nil, runner.Part{}, errNoKey
	}
	if h.draws(key, j.lease.RunID) {
		return nil, runner.Part{}, errTwice
	}
	a, err := h.Store.JoinAllowance(ctx, j.lease, key, c.Sender, h.Now())
	if err != nil {
		return nil, runner.Part{}, err
	}
	defer h.rouse()
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.drawn[key]
	if d == nil {
		d = &drawn{key: key, here: map[string]*drawing{}}
		if h.drawn == nil {
			h.drawn = map[string]*drawn{}
		}
		h.drawn[key] = d
	}
	own := &drawing{hub: h, of: d, runID: j.lease.RunID, hear: hear}
	d.here[own.runID] = own
	d.take(a.Members)
	d.spread(own, nil) // those who were there already
	part := d.part(own)
	own.last = part
	part.Learned = numbersOf(a.Learned)
	part.News = d.newsFor(own)
	return own, part, nil
}

func (h *Hub) draws(key, runID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.drawn[key]
	return d != nil && d.here[runID] != nil
}

// Look asks the store who draws on the allowances of this process's runs, and what they tell, if others do:
// sharing are runs of which somebody knows that, and what was shared at the last look counts as well.
func (h *Hub) Look(ctx context.Context, sharing []string) error {
	if !h.looking.TryLock() {
		return nil
	}
	defer h.looking.Unlock()
	keys, told := h.shared(sharing)
	if len(keys) == 0 {
		return nil
	}
	if len(told) > 0 {
		if err := h.Store.TellAllowances(ctx, told, h.Now()); err != nil {
			return err
		}
	}
	all, err := h.Store.Allowances(ctx, keys, h.Now())
	if err != nil {
		return err
	}
	defer h.rouse()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range all {
		if d := h.drawn[a.Key]; d != nil {
			d.spread(nil, d.take(a.Members))
		}
	}
	return nil
}

// shared are the allowances that runs of other processes draw on too, and what there is to tell of them.
func (h *Hub) shared(sharing []string) (keys []string, told []store.Told) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, d := range h.drawn {
		wanted := d.elsewhere
		for _, id := range sharing {
			wanted = wanted || d.here[id] != nil
		}
		if !wanted {
			continue
		}
		keys = append(keys, key)
		for _, own := range d.here {
			if t, news := own.untold(); news {
				told = append(told, t)
			}
		}
	}
	return keys, told
}

const (
	// lookEvery is how often those look who share an allowance with other processes. A refusal is heard of
	// everywhere before the next two are.
	lookEvery = 250 * time.Millisecond
	// unaidedEvery is how soon a process that nobody tells hears that others have come.
	unaidedEvery = time.Second
)

// Follow looks again and again, until ctx ends, while there are others. A process that is alone is told by Look that
// they have come, or finds out by itself if it is Unaided.
func (h *Hub) Follow(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if pause := h.pause(); pause > 0 {
			timer.Reset(pause)
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return
		case <-h.waker():
			continue
		case <-timer.C:
		}
		var own []string
		if h.Unaided {
			own = h.runs()
		}
		_ = h.Look(ctx, own) // a store that fails is told by what the runs themselves write
	}
}

// pause is how long until the next look; zero while there is nothing to look for.
func (h *Hub) pause() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.drawn {
		if d.elsewhere {
			return lookEvery
		}
	}
	if h.Unaided && len(h.drawn) > 0 {
		return unaidedEvery
	}
	return 0
}

// waker is sent to when there may be something to look for.
func (h *Hub) waker() chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.wake == nil {
		h.wake = make(chan struct{}, 1)
	}
	return h.wake
}

func (h *Hub) rouse() {
	select {
	case h.waker() <- struct{}{}:
	default:
	}
}

func (h *Hub) runs() (ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.drawn {
		for id := range d.here {
			ids = append(ids, id)
		}
	}
	return ids
}

// numbersOf reads numbers as they are stored. What is none of ours is nothing.
func numbersOf(v jsontext.Value) protocol.Numbers {
	var n protocol.Numbers
	if len(v) == 0 || json.Unmarshal(v, &n) != nil {
		return nil
	}
	return n
}

func stored(n protocol.Numbers) jsontext.Value {
	if len(n) == 0 {
		return nil
	}
	v, err := json.Marshal(n, json.Deterministic(true))
	if err != nil {
		return nil // no number of JSON's
	}
	return v
}
