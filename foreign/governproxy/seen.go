package governproxy

import (
	"maps"
	"slices"
	"sync"
)

// Seen is what became of a program's requests.
type Seen struct {
	// Requests counts what passed, tunnels aside.
	Requests int
	// Hosts are those that were asked, Elsewhere those that were refused, sorted.
	Hosts, Elsewhere []string
	// Refused counts the requests that ended in a refusal or a failure, by status; 0 stands
	// for no answer. One that the program repeated with success is none.
	Refused map[int]int
	// Last is the status of the last answer; 0 when there was none.
	Last int
	// Blind says that something went through unread.
	Blind bool
}

// identity tells a request from others; its repetitions have the same.
type identity struct{ method, digest string }

// ledger counts. It keeps digests, and nothing that passed.
type ledger struct {
	mu        sync.Mutex
	requests  int
	hosts     map[string]bool
	forbidden map[string]bool
	refused   map[identity]int
	last      int
	blind     bool
}

func newLedger() ledger {
	return ledger{hosts: map[string]bool{}, forbidden: map[string]bool{}, refused: map[identity]int{}}
}

func (l *ledger) host(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts[name] = true
}

func (l *ledger) elsewhere(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forbidden[name] = true
}

func (l *ledger) unseen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blind = true
}

// answered notes the final answer to a request. When only half of it came, broke says so.
func (l *ledger) answered(id identity, status int) (broke func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.last
	l.requests++
	l.last = status
	delete(l.refused, id)
	if status >= 400 {
		l.refused[id] = status
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refused[id] = 0
		if l.last == status {
			l.last = before
		}
	}
}

// failed notes a request without an answer.
func (l *ledger) failed(id identity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	l.refused[id] = 0
}

func (l *ledger) sum() Seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Seen{
		Requests: l.requests, Last: l.last, Blind: l.blind, Refused: map[int]int{},
		Hosts: slices.Sorted(maps.Keys(l.hosts)), Elsewhere: slices.Sorted(maps.Keys(l.forbidden)),
	}
	for _, status := range l.refused {
		s.Refused[status]++
	}
	return s
}
