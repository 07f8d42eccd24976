// Package tokenqueue delays callers that present an unknown secret. Each check of a secret
// costs a database query that any caller can cause: queued callers use one connection at
// most, so the owner's requests always find a free one.
package tokenqueue

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/netip"
	"sync"
)

const (
	// maxWaiting is how many requests of one address may wait, including the one being
	// checked. It bounds how long one address can delay the others.
	maxWaiting = 32
	// maxKnown is how many valid secrets the queue remembers.
	maxKnown = 4096
)

// ErrQueueFull reports that too many requests of one address are waiting already.
var ErrQueueFull = errors.New("too many requests of this address are waiting")

// Queue checks unknown secrets one at a time. It remembers the digests of secrets that were
// valid, and nothing else: every request checks its secret again, so a revoked secret is
// refused at once. Queue is safe for concurrent use.
type Queue struct {
	turn chan struct{}

	mu      sync.Mutex
	known   map[[sha256.Size]byte]struct{}
	waiting map[string]int // by address
}

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	return &Queue{turn: make(chan struct{}, 1), known: map[[sha256.Size]byte]struct{}{}, waiting: map[string]int{}}
}

// LookUp calls find, which reports whether the secret of a request is valid. It calls find
// at once if the secret was valid last time, and through InTurn otherwise.
func (q *Queue) LookUp(r *http.Request, secret string, find func(context.Context) (good bool, err error)) error {
	name := sha256.Sum256([]byte(secret))
	look := func(ctx context.Context) error {
		good, err := find(ctx)
		if err == nil {
			q.remember(name, good)
		}
		return err
	}
	if q.knows(name) {
		return look(r.Context())
	}
	return q.InTurn(r, look)
}

// InTurn calls do after all earlier callers have finished. It returns ErrQueueFull if the
// queue is full, and the context's error if the request ends while it waits.
func (q *Queue) InTurn(r *http.Request, do func(context.Context) error) error {
	from := Address(r)
	if !q.join(from) {
		return ErrQueueFull
	}
	defer q.leave(from)
	select {
	case q.turn <- struct{}{}:
		defer func() { <-q.turn }()
		return do(r.Context())
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

func (q *Queue) knows(name [sha256.Size]byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, known := q.known[name]
	return known
}

func (q *Queue) remember(name [sha256.Size]byte, good bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !good {
		delete(q.known, name)
		return
	}
	if len(q.known) >= maxKnown {
		for other := range q.known { // any: its bearer waits once more
			delete(q.known, other)
			break
		}
	}
	q.known[name] = struct{}{}
}

func (q *Queue) join(from string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting[from] >= maxWaiting {
		return false
	}
	q.waiting[from]++
	return true
}

func (q *Queue) leave(from string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting[from]--; q.waiting[from] == 0 {
		delete(q.waiting, from)
	}
}

// Origin returns the address of a request for display.
func Origin(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "somewhere"
	}
	return at.Addr().Unmap().WithZone("").String()
}

// Address returns the address under which a request is counted. For IPv6 it is the /64
// network, because one caller usually owns a whole network.
func Address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "somewhere"
	}
	address := at.Addr().Unmap().WithZone("")
	if address.Is4() || address.IsLoopback() {
		return address.String()
	}
	network, _ := address.Prefix(64)
	return network.String()
}
