package providersim

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// Stats counts what a client did since the start or the last reset.
type Stats struct {
	Requests int `json:"requests"`
	// ByPattern counts by route, e.g. "GET /v1/threads/{id}".
	ByPattern map[string]int `json:"by_pattern"`
	// ByStatus counts by the status that was sent.
	ByStatus map[int]int `json:"by_status"`
	// ByFault counts the requests that each kind of fault affected.
	ByFault map[Kind]int `json:"by_fault"`
	// Throttled counts refusals by Throttle, Bucket and Crowd faults.
	Throttled int `json:"throttled"`
	// WhileLimited is the most requests that arrived inside the scope of one
	// announced Retry-After, after it was sent and before it had passed. They are
	// served normally unless a fault changes that. The gate sends no other answer
	// until the client has the announcement, so a client that keeps n requests in
	// flight can have sent n-1 of them without knowing of it.
	WhileLimited int `json:"while_limited"`
	InFlight     int `json:"in_flight"`
	MaxInFlight  int `json:"max_in_flight"`
}

// Request is one line of the request log.
type Request struct {
	At         time.Time `json:"at"`
	Method     string    `json:"method"`
	Path       string    `json:"path"`
	Query      string    `json:"query,omitempty"`
	Credential string    `json:"credential,omitempty"`
	Status     int       `json:"status"`
	Faults     []Kind    `json:"faults,omitempty"`
	// Number counts the requests in the order of their arrival; the log has them in the order of their answers.
	Number int `json:"number"`
	// LeaveUntil is the end of the announced wait; zero when none was announced.
	LeaveUntil time.Time `json:"leave_until,omitzero"`
	// Before is how many requests had arrived when LeaveUntil was announced.
	Before int `json:"before,omitempty"`
}

// requestLogSize bounds the request log; older lines make room for newer ones.
const requestLogSize = 4096

func newRequestStats() Stats {
	return Stats{ByPattern: map[string]int{}, ByStatus: map[int]int{}, ByFault: map[Kind]int{}}
}

func (s *Stats) countArrival(pattern string) {
	s.Requests++
	s.ByPattern[pattern]++
	s.InFlight++
	s.MaxInFlight = max(s.MaxInFlight, s.InFlight)
}

func (g *Gate) countDeparture() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stats.InFlight--
}

// recordAnswer notes the answer that is about to be sent.
func (g *Gate) recordAnswer(r *http.Request, status int, p *requestPlan) {
	line := Request{At: g.opts.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Status: status,
		Faults: p.kinds, Number: p.number}
	if g.opts.Label != nil {
		line.Credential = g.opts.Label(r)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.limit != nil && !p.reset {
		line.LeaveUntil, line.Before, p.limit.sent = p.limit.until, g.stats.Requests, true
		if g.announcing++; g.announcing == 1 {
			g.delivered = make(chan struct{})
		}
	}
	g.stats.ByStatus[status]++
	for _, kind := range p.kinds {
		g.stats.ByFault[kind]++
		if kind == Throttle || kind == Bucket || kind == Crowd {
			g.stats.Throttled++
		}
	}
	if len(g.log) == 2*requestLogSize {
		g.log = slices.Delete(g.log, 0, requestLogSize)
	}
	g.log = append(g.log, line)
}

// Stats returns a copy of the counters.
func (g *Gate) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	s.ByPattern, s.ByStatus, s.ByFault = maps.Clone(s.ByPattern), maps.Clone(s.ByStatus), maps.Clone(s.ByFault)
	return s
}

// Requests returns the latest requests, oldest first.
func (g *Gate) Requests() []Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.log[max(0, len(g.log)-requestLogSize):])
}

// ResetStats puts counters to zero and forgets the request log and announced
// limits. Requests under way stay counted as in flight.
func (g *Gate) ResetStats() {
	g.mu.Lock()
	defer g.mu.Unlock()
	inFlight := g.stats.InFlight
	g.stats, g.log, g.limits = newRequestStats(), nil, nil
	g.stats.InFlight, g.stats.MaxInFlight = inFlight, inFlight
}
