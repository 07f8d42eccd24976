// Package strangers makes those wait in line who show a secret that was not good before.
// To look one up costs the database something, and anybody can make it do so: in line they
// keep one connection busy at most, and never those that the owner needs.
package strangers

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/netip"
	"sync"
)

const (
	// maxWaiting is how many requests of one address wait in line, the one that is looked
	// up included, so that no address makes the others wait for long.
	maxWaiting = 32
	// maxKnown bounds how many secrets are remembered.
	maxKnown = 4096
)

// ErrCrowded says that too many requests of one address wait already.
var ErrCrowded = errors.New("too many requests of one address wait in line")

// Line is where strangers wait. It remembers, by their digests, which secrets were good,
// and nothing else of them: each is looked up again whenever it is shown, so that one that
// was taken back is refused at once. It is safe for concurrent use.
type Line struct {
	turn chan struct{}

	mu      sync.Mutex
	known   map[[sha256.Size]byte]struct{}
	waiting map[string]int // by address
}

// NewLine makes an empty line.
func NewLine() *Line {
	return &Line{turn: make(chan struct{}, 1), known: map[[sha256.Size]byte]struct{}{}, waiting: map[string]int{}}
}

// LookUp calls find, which reports whether the secret that a request shows is good: at once
// when it was good the last time, and otherwise in turn.
func (l *Line) LookUp(r *http.Request, secret string, find func(context.Context) (good bool, err error)) error {
	name := sha256.Sum256([]byte(secret))
	look := func(ctx context.Context) error {
		good, err := find(ctx)
		if err == nil {
			l.remember(name, good)
		}
		return err
	}
	if l.knows(name) {
		return look(r.Context())
	}
	return l.InTurn(r, look)
}

// InTurn calls do when everybody before is done. It gives ErrCrowded when there is no
// place in line, and the context's error for a request that waits no more.
func (l *Line) InTurn(r *http.Request, do func(context.Context) error) error {
	from := Address(r)
	if !l.join(from) {
		return ErrCrowded
	}
	defer l.leave(from)
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
		return do(r.Context())
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

func (l *Line) knows(name [sha256.Size]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known := l.known[name]
	return known
}

func (l *Line) remember(name [sha256.Size]byte, good bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !good {
		delete(l.known, name)
		return
	}
	if len(l.known) >= maxKnown {
		for other := range l.known { // any: its bearer waits in line once
			delete(l.known, other)
			break
		}
	}
	l.known[name] = struct{}{}
}

func (l *Line) join(from string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[from] >= maxWaiting {
		return false
	}
	l.waiting[from]++
	return true
}

func (l *Line) leave(from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[from]--; l.waiting[from] == 0 {
		delete(l.waiting, from)
	}
}

// Origin is where a request comes from, to be shown.
func Origin(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "somewhere"
	}
	return at.Addr().Unmap().WithZone("").String()
}

// Address is where a request comes from, for counting. Whoever has an IPv6 address has a
// whole network of them, so that the network counts.
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
