package governhttp

import (
	"context"
	"slices"
	"sync"
	"time"
)

// WaitPurpose is the purpose of a wait.
type WaitPurpose string

const (
	// Preflight is the wait before a request is sent for the first time.
	Preflight WaitPurpose = "preflight"
	// Retry is the wait before a request is sent again.
	Retry WaitPurpose = "retry"
	// Rest is the wait of a caller that waits for the end of a denial.
	Rest WaitPurpose = "rest"
)

// Wait is one wait for the provider. A sender waits once before a transmission, however often it sleeps.
type Wait struct {
	Source     WaitPurpose
	For        time.Duration
	ByProvider bool // the provider asked for it, by Retry-After or an exhausted quota
}

// Trail lists the waits before one transmission. More than one source is a defect: two gates delay the same
// request.
type Trail struct {
	Provider string
	Attempt  int
	Waits    []Wait
}

// Sources returns the number of waits that took time, one per sender and source.
func (t Trail) Sources() int {
	n := 0
	for _, w := range t.Waits {
		if w.For > 0 {
			n++
		}
	}
	return n
}

// waitPath collects a Trail. It travels in the context of the attempt, so that a sender used inside another one
// records its waits on both.
type waitPath struct {
	sender *Sender
	outer  *waitPath

	mu    sync.Mutex
	trail Trail
}

type waitPathKey struct{}

func waitPathOf(ctx context.Context) *waitPath {
	p, _ := ctx.Value(waitPathKey{}).(*waitPath)
	return p
}

// startPath starts the path of one transmission that waited own.
func (s *Sender) startPath(ctx context.Context, attempt int, own Wait) (context.Context, *waitPath) {
	p := &waitPath{sender: s, outer: waitPathOf(ctx)}
	p.trail = Trail{Provider: s.governor.Name(), Attempt: attempt}
	if p.outer != nil && p.outer.sender != s {
		p.trail.Waits = p.outer.snapshot().Waits
		p.outer.add(own)
	}
	if own.For > 0 {
		p.trail.Waits = append(p.trail.Waits, own)
	}
	return context.WithValue(ctx, waitPathKey{}, p), p
}

// add appends a wait to this path and the paths around it.
func (p *waitPath) add(w Wait) {
	if w.For <= 0 {
		return
	}
	for ; p != nil; p = p.outer {
		p.mu.Lock()
		p.trail.Waits = append(p.trail.Waits, w)
		p.mu.Unlock()
	}
}

// snapshot returns a copy of the trail.
func (p *waitPath) snapshot() Trail {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.trail
	t.Waits = slices.Clone(t.Waits)
	return t
}

// contains reports whether the path is inside an attempt of s.
func (p *waitPath) contains(s *Sender) bool {
	for ; p != nil; p = p.outer {
		if p.sender == s {
			return true
		}
	}
	return false
}
