package governproxy

import (
	"maps"
	"slices"
	"sync"
)

// Seen reports the results of a program's requests.
type Seen struct {
	// Requests counts the forwarded requests, without tunnels.
	Requests int
	// Hosts are the requested hosts, Elsewhere the refused ones, both sorted.
	Hosts, Elsewhere []string
	// Refused counts the requests that ended in a refusal or a failure, by status; 0 means no response. A request
	// that the program retried with success does not count.
	Refused map[int]int
	// Refusals are the same requests one by one, each with the positions of the program.
	Refusals []Refusal
	// Places are the positions of the program at its requests, sorted and without duplicates.
	Places []int64
	// Last is the status of the last response; 0 if there was none.
	Last int
	// Blind means that some traffic was not inspected.
	Blind bool
}

// Refusal is a request that ended in a refusal or a failure.
type Refusal struct {
	Status int
	Places []int64
}

// requestIdentity identifies a request. Its retries have the same identity.
type requestIdentity struct{ method, digest string }

// requestLedger counts requests. It stores digests, and no traffic.
type requestLedger struct {
	mu        sync.Mutex
	requests  int
	hosts     map[string]bool
	forbidden map[string]bool
	refused   map[requestIdentity]Refusal
	places    []int64
	last      int
	blind     bool
}

func newRequestLedger() requestLedger {
	return requestLedger{hosts: map[string]bool{}, forbidden: map[string]bool{}, refused: map[requestIdentity]Refusal{}}
}

func (l *requestLedger) host(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts[name] = true
}

func (l *requestLedger) elsewhere(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forbidden[name] = true
}

// asked records the position of the program at a request. Requests may arrive out of order.
func (l *requestLedger) asked(place int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, found := slices.BinarySearch(l.places, place); !found {
		l.places = slices.Insert(l.places, i, place)
	}
}

// refuse records a refusal of the request at a position.
func (l *requestLedger) refuse(id requestIdentity, status int, place int64) {
	r := l.refused[id]
	r.Status = status
	if !slices.Contains(r.Places, place) {
		r.Places = append(r.Places, place)
	}
	l.refused[id] = r
}

func (l *requestLedger) unseen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blind = true
}

// answered records the final response to a request. broke reports that only a part of it arrived.
func (l *requestLedger) answered(id requestIdentity, status int, place int64) (broke func()) {
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

// failed records a request without a response.
func (l *requestLedger) failed(id requestIdentity, place int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	l.refuse(id, 0, place)
}

func (l *requestLedger) sum() Seen {
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
