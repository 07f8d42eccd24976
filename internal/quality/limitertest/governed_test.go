package limitertest

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	items = 150
	// fewRefusals is far more than finding a limit takes and far less than a
	// client earns that ignores it.
	fewRefusals = items / 10
	// granularity is what two clocks of a millisecond each may differ by over the
	// seconds of a test.
	granularity = 5 * time.Millisecond
)

// witness is what the client's side saw of the requests: it sits below the
// client as its transport, and beside it as the sender's clock and probe.
type witness struct {
	clock atomic.Int64 // the sender's last reading, in nanoseconds since began
	began time.Time

	mu        sync.Mutex
	sent      []time.Duration // the readings at which requests were admitted
	refused   int
	trails    []governhttp.Trail
	intervals []time.Duration // the pace as each answer came
}

func (w *witness) now() time.Time {
	now := time.Now()
	w.clock.Store(int64(now.Sub(w.began)))
	return now
}

func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	at := time.Duration(w.clock.Load())
	resp, err := http.DefaultTransport.RoundTrip(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, at)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		w.refused++
	}
	return resp, err
}

// probe remembers the trails of the requests that g governs.
func (w *witness) probe(g *governor.Governor) func(governhttp.Trail) {
	return func(t governhttp.Trail) {
		rate, _ := g.Rate()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.trails, w.intervals = append(w.trails, t), append(w.intervals, rate.Interval)
	}
}

// fetchAll gets every item from nginx through a governed client, so many at
// once, and checks what must hold whatever the limit is.
func fetchAll(t *testing.T, l Limit, inFlight int, ceiling time.Duration) (*witness, []Request) {
	t.Helper()
	s := Start(t, l, items)
	w := &witness{began: time.Now()}
	g := governor.New("nginx", func(c *governor.Config) {
		c.Discovery, c.Ceiling = 100*time.Millisecond, ceiling
	})
	sender := governhttp.NewSender(g, governhttp.SenderOptions{InFlight: inFlight, Probe: w.probe(g), Now: w.now})
	client, err := governhttp.New(governhttp.Options{BaseURL: s.URL, Transport: w, Sender: sender})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a broken client must not hang
	defer cancel()
	next := make(chan int)
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for i := range next {
				resp, err := client.Get(ctx, Path(i), nil)
				if err != nil || resp.Status != http.StatusOK || string(resp.Body) != Body(i) {
					t.Errorf("item %d: %+v, %v", i, resp, err)
				}
			}
		})
	}
	for i := range items {
		next <- i
	}
	close(next)
	workers.Wait()
	log, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	checkServed(t, w, log)
	checkTrails(t, w)
	return w, log
}

// checkServed holds the client's account against nginx's own.
func checkServed(t *testing.T, w *witness, log []Request) {
	t.Helper()
	served, refused := map[string]int{}, 0
	for _, r := range log {
		switch r.Status {
		case http.StatusOK:
			served[r.Path]++
		case http.StatusTooManyRequests:
			refused++
		default:
			t.Errorf("nginx answered %d", r.Status)
		}
	}
	for i := range items {
		if n := served[Path(i)]; n != 1 {
			t.Errorf("item %d was served %d times", i, n)
		}
	}
	if refused != w.refused {
		t.Errorf("nginx refused %d requests, the client saw %d refusals", refused, w.refused)
	}
	if refused > fewRefusals {
		t.Errorf("%d requests were refused, at most %d are bearable", refused, fewRefusals)
	}
	if len(w.trails) != len(log) {
		t.Errorf("%d trails for %d requests at nginx", len(w.trails), len(log))
	}
	t.Logf("%d served, %d refused", len(served), refused)
}

func checkTrails(t *testing.T, w *witness) {
	t.Helper()
	waited := 0
	for _, trail := range w.trails {
		if trail.Sources() > 1 {
			t.Errorf("attempt %d waited for several reasons: %+v", trail.Attempt, trail.Waits)
		}
		waited += trail.Sources()
	}
	if waited == 0 {
		t.Error("no request waited: the trails show nothing")
	}
}

func TestGovernedClientAgainstNginx(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit    Limit
		inFlight int
		learns   bool // the limit shows itself by refusals only
	}{
		"no burst":               {Limit{Rate: 40}, 1, true},
		"burst":                  {Limit{Rate: 40, Burst: 5}, 1, true},
		"burst, eight in flight": {Limit{Rate: 40, Burst: 5}, 8, true},
		"held":                   {Limit{Rate: 40, Burst: 5, Hold: true}, 1, false},
		"held, eight in flight":  {Limit{Rate: 40, Burst: 5, Hold: true}, 8, false},
		"no burst, retry after":  {Limit{Rate: 40, RetryAfter: 1}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Attr("spec", "RT-20.1")
			w, log := fetchAll(t, c.limit, c.inFlight, 5*time.Millisecond)
			if c.learns && w.refused == 0 {
				t.Error("no request was refused: the limit was never reached")
			}
			checkQuiet(t, log, time.Duration(c.limit.RetryAfter)*time.Second)
		})
	}
}

// checkQuiet checks in nginx's log that no request came during the wait that nginx asked for.
func checkQuiet(t *testing.T, log []Request, asked time.Duration) {
	t.Helper()
	var until time.Time
	for _, r := range log {
		if r.Arrived.Add(granularity).Before(until) {
			t.Errorf("%s arrived %s too early", r.Path, until.Sub(r.Arrived))
		}
		if r.Status == http.StatusTooManyRequests && asked > 0 {
			until = r.Answered.Add(asked)
		}
	}
}

// The owner's ceiling is slower than this nginx, so that it is what binds.
func TestOwnerCeilingHoldsAtNginx(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-25.2")
	const ceiling = 20 * time.Millisecond
	w, _ := fetchAll(t, Limit{Rate: 200, Burst: 5}, 1, ceiling)
	if w.refused > 0 {
		t.Errorf("%d requests were refused below the limit", w.refused)
	}
	for i := 1; i < len(w.sent); i++ {
		if apart := w.sent[i] - w.sent[i-1]; apart < ceiling {
			t.Errorf("two requests left within %s, the owner's ceiling is %s", apart, ceiling)
		}
		if w.intervals[i] > w.intervals[i-1] || w.intervals[i] < ceiling {
			t.Errorf("after a success the interval went from %s to %s", w.intervals[i-1], w.intervals[i])
		}
	}
	if last := w.intervals[len(w.intervals)-1]; last != ceiling {
		t.Errorf("the interval ends at %s, the owner allows %s", last, ceiling)
	}
}

// A client that does not pace shows that the bound on refusals means something.
func TestUnpacedClientIsRefusedOften(t *testing.T) {
	t.Parallel()
	s := Start(t, Limit{Rate: 40}, items)
	refused := 0
	for i := range items {
		if resp, _ := get(t, s.URL+"/"+Path(i)); resp.StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused <= 4*fewRefusals {
		t.Errorf("%d of %d requests at once were refused", refused, items)
	}
}
