package governhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// claim records which statements of the specification a test covers.
func claim(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		t.Attr("spec", id)
	}
}

// rig is a sender that records what happens.
type rig struct {
	*Sender
	g *governor.Governor

	mu     sync.Mutex
	sent   []time.Time // when attempts began
	trails []Trail
	sleeps []Wait
}

// newRig makes a sender with one call at work, pacing as adjusted.
func newRig(adjust ...func(*governor.Config)) *rig {
	return newWideRig(1, adjust...)
}

func newWideRig(inFlight int, adjust ...func(*governor.Config)) *rig {
	r := &rig{g: governor.New("lumen", adjust...)}
	r.Sender = NewSender(r.g, SenderOptions{
		InFlight: inFlight,
		Waiting:  func(_ context.Context, w Wait) { r.keep(func() { r.sleeps = append(r.sleeps, w) }) },
		Probe:    func(t Trail) { r.keep(func() { r.trails = append(r.trails, t) }) },
	})
	return r
}

func (r *rig) keep(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// errProvider is the error of a refused attempt.
var errProvider = errors.New("the provider says no")

// run sends one request with these outcomes; the last one repeats.
func (r *rig) run(ctx context.Context, outcomes ...governor.Outcome) error {
	n := 0
	return r.Do(ctx, func(context.Context) (governor.Outcome, error) {
		r.keep(func() { r.sent = append(r.sent, time.Now()) })
		o := outcomes[min(n, len(outcomes)-1)]
		n++
		if o.Kind == governor.Success {
			return o, nil
		}
		return o, errProvider
	})
}

// waits are the waits of all transmissions in order; a transmission without one
// has a zero.
func (r *rig) waits(t *testing.T) (all []Wait) {
	t.Helper()
	for _, trail := range r.trails {
		if trail.Sources() > 1 {
			t.Errorf("attempt %d has %d wait sources: %v", trail.Attempt, trail.Sources(), trail.Waits)
		}
		all = append(all, append(trail.Waits, Wait{})[0])
	}
	return all
}

var (
	success  = governor.Outcome{Kind: governor.Success}
	rejected = governor.Outcome{Kind: governor.Rejected}
	failed   = governor.Outcome{Kind: governor.Failed}
	throttle = governor.Outcome{Kind: governor.Throttled}
)

func asking(d time.Duration) governor.Outcome {
	return governor.Outcome{Kind: governor.Throttled, RetryAfter: d, HasRetryAfter: true}
}

// unpaced turns pacing off.
func unpaced(c *governor.Config) { c.Discovery = 0 }

// steady fixes the interval, so that waits are predictable.
func steady(d time.Duration) func(*governor.Config) {
	return func(c *governor.Config) { c.Discovery, c.Ceiling, c.Longest = d, d, d }
}

func attempts(n int) func(*governor.Config) {
	return func(c *governor.Config) { c.Attempts = n }
}

// unbroken turns the circuit off.
func unbroken(c *governor.Config) { c.Breaker.Off = true }

// stoppedBy asserts a stop and returns it.
func stoppedBy(t *testing.T, err error) *Stopped {
	t.Helper()
	var s *Stopped
	if !errors.As(err, &s) {
		t.Fatalf("error %v is not a stop", err)
	}
	return s
}

// replies is a transport that answers by the number of the request, from one on.
type replies func(n int, r *http.Request) *http.Response

// transport numbers the requests.
func (f replies) transport() http.RoundTripper {
	var mu sync.Mutex
	n := 0
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		n++
		i := n
		mu.Unlock()
		return f(i, r), nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reply is an answer with "Name: value" lines as headers.
func reply(status int, headers, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: answer(headers), Body: io.NopCloser(strings.NewReader(body))}
}

func clientOf(t *testing.T, s *Sender, f replies) *Client {
	t.Helper()
	c, err := New(Options{BaseURL: "https://api.lumen.example", Transport: f.transport(), Sender: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
