package davserver

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/conformance"
	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// delayedTransport carries requests to a server and keeps its answers back, in virtual time.
type delayedTransport struct {
	delay func(*http.Request) time.Duration // negative means for ever
	next  http.RoundTripper
	held  int // answers that took longer than any request but a patient one waits
}

func newDelayedTransport(delay func(*http.Request) time.Duration) *delayedTransport {
	// A connection that lies idle waits for the network, and virtual time for it.
	return &delayedTransport{delay: delay, next: &http.Transport{DisableKeepAlives: true}}
}

func (h *delayedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := h.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it is read
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var over <-chan time.Time
	if d := h.delay(r); d >= 0 {
		over = time.After(d)
	}
	began := time.Now()
	select {
	case <-over:
		if time.Since(began) > time.Minute {
			h.held++
		}
		return resp, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// isWholeListing reports whether a request makes the server go through all of a collection.
func isWholeListing(r *http.Request) bool {
	return r.Method == "REPORT" || r.Header.Get("Depth") == "1"
}

// RunSlowServer shows that the connector waits for a server that is silent for minutes before it lists a collection,
// also after it has forgotten its tokens, and that it abandons a server that has gone silent in bounded
// time: soon if the server never answers, later if the request takes servers long.
func (s Suite) RunSlowServer(t *testing.T, c connectorkit.Connector) {
	account, sim := s.Open(t, SharedRadicale(t), Shape{Collections: 2, Things: 30})
	minutes := func(r *http.Request) time.Duration {
		if isWholeListing(r) {
			return 5 * time.Minute
		}
		return time.Second
	}
	var state protocol.Cursors
	have := map[string]map[string]bool{}
	slow := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := newDelayedTransport(minutes)
			transcript := requireDuration(t, 15*time.Minute, 2*time.Hour,
				func() *conformance.Transcript { return runConnector(t, c, sim, h, state) })
			if transcript.Done.Status != protocol.DoneSucceeded || len(transcript.Gaps) > 0 || h.held < 3 {
				t.Fatalf("ended as %+v with gaps %v after %d slow answers", transcript.Done, transcript.Gaps, h.held)
			}
			state = transcript.State
			for _, r := range transcript.Records {
				if have[r.Stream] == nil {
					have[r.Stream] = map[string]bool{}
				}
				have[r.Stream][r.Key] = true
				if r.Deleted {
					delete(have[r.Stream], r.Key)
				}
			}
		})
		for stream, items := range account.Truth() {
			got := slices.Sorted(maps.Keys(have[stream]))
			if want := slices.Sorted(maps.Keys(items)); !slices.Equal(got, want) {
				t.Errorf("%d of %s are known, and %d are there", len(got), stream, len(want))
			}
		}
	}
	t.Run("first run", slow)
	sim.MutateData(t, s.Deletion)
	sim.MutateData(t, providersim.Mutation{Op: "add", N: 3})
	if err := account.ForgetTokens(); err != nil {
		t.Fatal(err)
	}
	t.Run("tokens forgotten", slow)

	for name, bound := range map[string]struct {
		least, most time.Duration
		silent      func(*http.Request) bool
	}{
		"dead":            {time.Minute, 10 * time.Minute, func(*http.Request) bool { return true }},
		"silent on lists": {7 * time.Minute, 20 * time.Minute, isWholeListing},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newDelayedTransport(func(r *http.Request) time.Duration {
					if bound.silent(r) {
						return -1
					}
					return 0
				})
				got := requireDuration(t, bound.least, bound.most,
					func() *conformance.Transcript { return runConnector(t, c, sim, h, nil) })
				if got.Done.Status == protocol.DoneSucceeded && len(got.Gaps) == 0 {
					t.Error("a run that read nothing says that nothing is missing")
				}
			})
		})
	}
}

// requireDuration fails the test unless a run takes that long.
func requireDuration(t *testing.T, least, most time.Duration,
	run func() *conformance.Transcript) *conformance.Transcript {
	t.Helper()
	began := time.Now()
	reported := run()
	took := time.Since(began)
	t.Logf("%v, %d records", took, len(reported.Records))
	if took < least || took > most {
		t.Errorf("the run took %v, and not from %v to %v", took, least, most)
	}
	return reported
}

// runConnector makes one run in this process.
func runConnector(t *testing.T, c connectorkit.Connector, sim *connectortest.Sim, carrier http.RoundTripper,
	state protocol.Cursors) *conformance.Transcript {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var log strings.Builder
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		connectorkit.Run(t.Context(), c, connectorkit.Process{
			Stdin: inR, Stdout: outW, Stderr: &log, Env: func(name string) string { return sim.Env[name] }, Now: time.Now,
			Transport: carrier, Dir: t.TempDir(),
		})
		_ = outW.Close() // a pipe in memory
	}()
	d := &conformance.Dialogue{Manifest: c.Manifest, Start: protocol.Start{
		RunID: "run_slow", CollectionMode: protocol.Incremental, State: state,
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")},
	}}
	for _, stream := range c.Manifest.Streams {
		d.Start.Scope.Streams = append(d.Start.Scope.Streams, protocol.StreamScope{Name: stream.Name})
	}
	heard, err := d.Hold(inW, outR)
	_ = outR.Close() // a pipe in memory
	<-exited
	if err != nil || heard.Done == nil {
		t.Fatalf("no DONE: %v: %s", err, &log)
	}
	return heard
}
