package governhttp

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Source is what a wait is for.
type Source string

const (
	// Preflight is the wait before a request is sent for the first time.
	Preflight Source = "preflight"
	// Retry is the wait before a request is sent again.
	Retry Source = "retry"
	// Rest is the wait of a caller that chose to sit out a denial.
	Rest Source = "rest"
)

// Wait is one wait for the provider. However often it slept and asked again, a
// sender waits once before a transmission.
type Wait struct {
	Source     Source
	For        time.Duration
	ByProvider bool // the provider asked for it, by Retry-After or a spent quota
}

// Trail is the waits before one transmission. More than one source on it is a
// defect of the request path: two gates then slow one request.
type Trail struct {
	Provider string
	Attempt  int
	Waits    []Wait
}

// Sources counts the waits that took time, one for each sender and source.
func (t Trail) Sources() int {
	n := 0
	for _, w := range t.Waits {
		if w.For > 0 {
			n++
		}
	}
	return n
}

// path is a trail under way. It travels in the context of the attempt, so that
// a sender within an attempt of another one leaves its waits on both.
type path struct {
	sender *Sender
	outer  *path

	mu    sync.Mutex
	trail Trail
}

type pathKey struct{}

func pathOf(ctx context.Context) *path {
	p, _ := ctx.Value(pathKey{}).(*path)
	return p
}

// begin opens the path of one transmission that waited own.
func (s *Sender) begin(ctx context.Context, attempt int, own Wait) (context.Context, *path) {
	p := &path{sender: s, outer: pathOf(ctx)}
	p.trail = Trail{Provider: s.g.Name(), Attempt: attempt}
	if p.outer != nil && p.outer.sender != s {
		p.trail.Waits = p.outer.soFar().Waits
		p.outer.add(own)
	}
	if own.For > 0 {
		p.trail.Waits = append(p.trail.Waits, own)
	}
	return context.WithValue(ctx, pathKey{}, p), p
}

// add puts a wait on this path and on those around it.
func (p *path) add(w Wait) {
	if w.For <= 0 {
		return
	}
	for ; p != nil; p = p.outer {
		p.mu.Lock()
		p.trail.Waits = append(p.trail.Waits, w)
		p.mu.Unlock()
	}
}

// soFar copies the trail.
func (p *path) soFar() Trail {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.trail
	t.Waits = slices.Clone(t.Waits)
	return t
}

// within tells whether an attempt of s is under way around this path.
func (p *path) within(s *Sender) bool {
	for ; p != nil; p = p.outer {
		if p.sender == s {
			return true
		}
	}
	return false
}
