package providersim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// GateOptions set the format of a provider's own errors.
type GateOptions struct {
	// Now is the clock of buckets, announced limits and the Date header; nil
	// means the wall clock.
	Now func() time.Time
	// Latency delays every answer, whatever faults are installed.
	Latency time.Duration
	// ErrorBody renders a refusal in the provider's JSON shape. The gate uses
	// the codes rate_limited, unavailable, internal and token_expired. Nil means
	// {"error":"<code>"}.
	ErrorBody func(code string) []byte
	// Label names the credential of a request for the request log without
	// revealing it; nil leaves labels out.
	Label func(*http.Request) string
}

// Gate counts the requests to a provider's routes and injects faults. It is safe for concurrent use.
type Gate struct {
	opts GateOptions

	mu     sync.Mutex
	answer func(Answer)
	lastID int
	faults []*installedFault
	limits []*announcedLimit
	stats  Stats
	log    []Request

	announcing int           // announcements that are on their way to their clients
	delivered  chan struct{} // closed when none is on its way any more; nil when none is
}

// installedFault is a fault with its progress.
type installedFault struct {
	Fault
	seen   int
	bucket tokenBucket
}

// announcedLimit is a Retry-After that a client received.
type announcedLimit struct {
	scope Fault
	until time.Time
	sent  bool // its answer is on its way, or has arrived
	later int  // requests in its scope that arrived after it was sent
}

// NewGate returns a gate without faults.
func NewGate(opts GateOptions) *Gate {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.ErrorBody == nil {
		opts.ErrorBody = func(code string) []byte { return EncodeJSON(map[string]string{"error": code}) }
	}
	return &Gate{opts: opts, stats: newRequestStats()}
}

// Add installs a fault and returns its id.
func (g *Gate) Add(f Fault) (int, error) {
	if err := f.validateFault(); err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lastID++
	f.ID = g.lastID
	g.faults = append(g.faults, &installedFault{Fault: f, bucket: newTokenBucket(f.Rate, f.Burst, g.opts.Now())})
	return f.ID, nil
}

// Remove removes one fault.
func (g *Gate) Remove(id int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.faults, func(f *installedFault) bool { return f.ID == id })
	if i < 0 {
		return fmt.Errorf("no fault %d", id)
	}
	g.faults = slices.Delete(g.faults, i, i+1)
	return nil
}

// Clear takes all faults away. A Retry-After that was already announced keeps
// counting early requests until it has passed.
func (g *Gate) Clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = nil
}

// Faults lists the installed faults, spent ones included.
func (g *Gate) Faults() []Fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]Fault, 0, len(g.faults))
	for _, f := range g.faults {
		out = append(out, f.Fault)
	}
	return out
}

// Wrap puts the gate in front of routes. Requests are counted by the route
// pattern that they match.
func (g *Gate) Wrap(routes *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := routes.Handler(r)
		p := g.planRequest(r, pattern)
		leave := sync.OnceFunc(g.countDeparture)
		defer leave()

		if !waitFor(r.Context(), p.delay) {
			return
		}
		answer := p.answer
		if answer == nil {
			answer = newHeldAnswer()
			routes.ServeHTTP(answer, r.WithContext(withPageFault(r.Context(), p.page)))
		}
		for _, f := range p.damage {
			answer.applyFault(f)
		}
		g.observeAnswer(r, pattern, answer)
		answer.header.Set("Date", g.opts.Now().UTC().Format(http.TimeFormat))
		// An announced wait reaches the client before any other answer does, so that of the requests
		// that a client makes at the same time each can have one successor that did not know of it.
		announces := p.limit != nil && !p.reset
		if !announces && !g.waitForAnnouncements(r.Context()) {
			return
		}
		// Counting before sending lets a client that has its answer read
		// counters that already include it.
		g.recordAnswer(r, answer.status, &p)
		if announces {
			defer g.announcementArrived()
		}
		switch {
		case p.reset:
			answer.sendHalfAnswer(w)
		case p.drip != nil:
			answer.sendSlowly(r.Context(), w, *p.drip)
		case announces:
			answer.deliverAnswer(w, leave)
		default:
			answer.sendAnswer(w)
		}
	})
}

// waitForAnnouncements waits until no announcement is on its way to a client, and reports whether ctx lasted that long.
func (g *Gate) waitForAnnouncements(ctx context.Context) bool {
	for {
		g.mu.Lock()
		delivered := g.delivered
		g.mu.Unlock()
		if delivered == nil {
			return true
		}
		select {
		case <-delivered:
		case <-ctx.Done():
			return false
		}
	}
}

// announcementArrived ends the hold of an announcement.
func (g *Gate) announcementArrived() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.announcing--; g.announcing == 0 {
		close(g.delivered)
		g.delivered = nil
	}
}

// Answer is one answer as a client gets it.
type Answer struct {
	Request *http.Request
	Pattern string // the route that the request matched
	Status  int
	Header  http.Header
	Body    []byte
}

// Show has see called with every answer before it is sent; nil ends that.
func (g *Gate) Show(see func(Answer)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = see
}

func (g *Gate) observeAnswer(r *http.Request, pattern string, a *heldAnswer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answer != nil {
		g.answer(Answer{Request: r, Pattern: pattern, Status: a.status, Header: a.header, Body: a.body.Bytes()})
	}
}

// waitFor waits for d and reports whether ctx lasted that long.
func waitFor(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
