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
	// Refusals are the same one by one, each with the places at which the program asked.
	Refusals []Refusal
	// Places are where the program was when it asked for something, in order and each once.
	Places []int64
	// Last is the status of the last answer; 0 when there was none.
	Last int
	// Blind says that something went through unread.
	Blind bool
}

// Refusal is a request that ended in a refusal or a failure.
type Refusal struct {
	Status int
	Places []int64
}

// identity tells a request from others; its repetitions have the same.
type identity struct{ method, digest string }

// ledger counts. It keeps digests, and nothing that passed.
type ledger struct {
	mu        sync.Mutex
	requests  int
	hosts     map[string]bool
	forbidden map[string]bool
	refused   map[identity]Refusal
	places    []int64
	last      int
	blind     bool
}

func newLedger() ledger {
	return ledger{hosts: map[string]bool{}, forbidden: map[string]bool{}, refused: map[identity]Refusal{}}
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

// asked notes where the program was when it sent a request. Requests may overtake each other.
func (l *ledger) asked(place int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, found := slices.BinarySearch(l.places, place); !found {
		l.places = slices.Insert(l.places, i, place)
	}
}

// refuse notes that the request was refused at another place too.
func (l *ledger) refuse(id identity, status int, place int64) {
	r := l.refused[id]
	r.Status = status
	if !slices.Contains(r.Places, place) {
		r.Places = append(r.Places, place)
	}
	l.refused[id] = r
}

func (l *ledger) unseen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blind = true
}

// answered notes the final answer to a request. When only half of it came, broke says so.
func (l *ledger) answered(id identity, status int, place int64) (broke func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.last
	l.requests++
	l.last = status
	if status >= 400 {
		l.refuse(id, status, place)
	} else {
		delete(l.refused, id)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refuse(id, 0, place)
		if l.last == status {
			l.last = before
		}
	}
}

// failed notes a request without an answer.
func (l *ledger) failed(id identity, place int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	l.refuse(id, 0, place)
}

func (l *ledger) sum() Seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Seen{
		Requests: l.requests, Last: l.last, Blind: l.blind, Refused: map[int]int{},
		Hosts: slices.Sorted(maps.Keys(l.hosts)), Elsewhere: slices.Sorted(maps.Keys(l.forbidden)),
	}
	s.Places = slices.Clone(l.places)
	for _, r := range l.refused {
		s.Refused[r.Status]++
		s.Refusals = append(s.Refusals, Refusal{r.Status, slices.Clone(r.Places)})
	}
	return s
}
