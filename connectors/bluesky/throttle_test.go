package bluesky_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/pds"
	"github.com/pdpp-go/pdpp/providersim"
)

// show publishes posts with a picture each: a request of its own for every one of them.
func (p *person) show(t *testing.T, pictures int) {
	t.Helper()
	var writes []pds.Write
	for range pictures {
		w := p.thing(posts)
		if err := p.paint(); err != nil {
			t.Fatal(err)
		}
		w.Value["embed"] = map[string]any{"$type": "app.bsky.embed.images",
			"images": []any{map[string]any{"image": p.picture, "alt": ""}}}
		writes = append(writes, w)
	}
	if err := p.Write(writes...); err != nil {
		t.Fatal(err)
	}
}

// realThrottle collects more than the limiter of a real server lets pass in one window: a first time, a
// second time with what the first has learned, and while another program of the person's spends the
// allowance. The limiter is the server's own, with a tenth of its points in a tenth of its window.
func realThrottle(t *testing.T) {
	const points, seconds, rate = 300, 30, 10.0
	server := realserver.Shared[*pds.Server]{Start: func(dir string) (*pds.Server, func() error, error) {
		return pds.Start(pds.Folder(t), dir, pds.Limits{Points: points, Seconds: seconds})
	}}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	at := server.Get(t)
	who := fill(t, at, 0)
	counted, front := realserver.CountAnswers(t, at.URL)
	target := target(t, 0)
	target.Start = func(t *testing.T) *connectortest.Sim {
		gate := providersim.NewGate(providersim.GateOptions{})
		return &connectortest.Sim{Provider: who, Gate: gate,
			Env: who.env(realserver.StartFront(t, gate, front, "/xrpc/{method}"))}
	}
	b := connectortest.NewHarness(t, target)
	run := func(name string, most float64) int64 {
		t.Helper()
		who.show(t, 450)
		served, refused, begin := counted.Served.Load(), counted.Refused.Load(), time.Now()
		b.Succeed(t)
		took := time.Since(begin)
		served, refused = counted.Served.Load()-served, counted.Refused.Load()-refused
		per := 1000 * float64(refused) / float64(served+refused)
		t.Logf("%s: %d requests served in %.0f s, %.2f of the rate that the server allows; %d refused, %.1f per 1,000",
			name, served, took.Seconds(), float64(served)/took.Seconds()/rate, refused, per)
		b.VerifyComplete(t)
		if per > most || served < 450 {
			t.Errorf("%s: %d of %d requests were refused", name, refused, served+refused)
		}
		return refused
	}
	run("cold", 5)
	run("warm", 5)
	counted.Each = func(n int64) {
		if n%1000 == 0 { // once in the run
			for range points {
				resp, err := http.Get(at.URL + "/xrpc/com.atproto.server.describeServer")
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
			}
		}
	}
	if run("beside another program", 10) == 0 {
		t.Error("nothing was refused although the allowance was spent")
	}
}
