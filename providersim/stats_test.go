package providersim

import (
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestStatsCountEachThingOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, GateOptions{Label: func(*http.Request) string { return "token-1" }})
	b.status("/list?limit=5")
	b.status("/list/a")
	b.status("/list/b")
	b.status("/nowhere")
	b.add(Fault{Kind: Throttle, RetryAfter: RetrySeconds, Seconds: 3600, Count: 1})
	b.status("/list")
	b.status("/list")

	want := Stats{
		Requests:     6,
		ByPattern:    map[string]int{"GET /list": 3, "GET /list/{id}": 2, "": 1},
		ByStatus:     map[int]int{200: 4, 404: 1, 429: 1},
		ByFault:      map[Kind]int{Throttle: 1},
		Throttled:    1,
		WhileLimited: 1,
		MaxInFlight:  1,
	}
	// A request leaves only after its answer has arrived.
	inFlight := cmpopts.IgnoreFields(Stats{}, "InFlight", "MaxInFlight")
	if diff := cmp.Diff(want, b.gate.Stats(), inFlight); diff != "" {
		t.Error(diff)
	}
	log := b.gate.Requests()
	if len(log) != 6 {
		t.Fatalf("%d lines in the request log, want 6", len(log))
	}
	first := Request{Method: "GET", Path: "/list", Query: "limit=5", Credential: "token-1", Status: 200, Number: 1}
	if diff := cmp.Diff(first, log[0], cmpopts.IgnoreFields(Request{}, "At")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Kind{Throttle}, log[4].Faults); diff != "" {
		t.Error(diff)
	}

	b.gate.ResetStats()
	b.status("/list")
	if s := b.gate.Stats(); s.Requests != 1 || s.WhileLimited != 0 || len(b.gate.Requests()) != 1 {
		t.Errorf("after a reset: %+v", s)
	}
}

func TestMaxInFlight(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}, 5), make(chan struct{})
	gate := NewGate(GateOptions{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hold", func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
	})
	b := bundle{t, gate, serve(t, gate.Wrap(mux))}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { _, _, _ = b.get("/hold") })
	}
	for range 5 {
		<-arrived
	}
	if s := gate.Stats(); s.InFlight != 5 || s.MaxInFlight != 5 {
		t.Errorf("%d in flight, at most %d; want 5", s.InFlight, s.MaxInFlight)
	}
	close(release)
	all.Wait()
}

func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	gate := NewGate(GateOptions{})
	r, _ := http.NewRequest(http.MethodGet, "/x", nil)
	for i := range 3*requestLogSize + 10 {
		gate.recordAnswer(r, i, &requestPlan{})
	}
	log := gate.Requests()
	if len(log) != requestLogSize || log[0].Status != 2*requestLogSize+10 ||
		log[requestLogSize-1].Status != 3*requestLogSize+9 {
		t.Errorf("%d lines from %d to %d", len(log), log[0].Status, log[len(log)-1].Status)
	}
}
