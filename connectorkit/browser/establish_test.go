package browser

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// fakeDesk plays a browser in virtual time.
type fakeDesk struct {
	probes []func(ctx context.Context) (SessionState, error) // one after the other; the last again and again
	probed int
	shows  func(ctx context.Context, walled bool) error
	shown  int
	taken  int

	mu       sync.Mutex
	captured []string
	captures func(ctx context.Context, label string) error
	kept     []string
	keeps    func(ctx context.Context) error
	at       pagePlace
	empty    bool
}

func (d *fakeDesk) noSession(context.Context) bool { return d.empty }

func (d *fakeDesk) probe(ctx context.Context) (SessionState, error) {
	f := d.probes[min(d.probed, len(d.probes)-1)]
	d.probed++
	return f(ctx)
}

func (d *fakeDesk) show(ctx context.Context, walled bool) (func(), error) {
	if d.shows != nil {
		if err := d.shows(ctx, walled); err != nil {
			return nil, err
		}
	}
	d.shown++
	return func() { d.taken = d.shown }, nil
}

func (d *fakeDesk) place(context.Context) pagePlace { return d.at }

func (d *fakeDesk) capture(ctx context.Context, label string, _ time.Time) error {
	d.mu.Lock()
	d.captured = append(d.captured, label)
	d.mu.Unlock()
	if d.captures != nil {
		return d.captures(ctx, label)
	}
	return nil
}

func (d *fakeDesk) keep(ctx context.Context, account string) error {
	if d.keeps != nil {
		if err := d.keeps(ctx); err != nil {
			return err
		}
	}
	d.kept = append(d.kept, account)
	return nil
}

func (d *fakeDesk) labels() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.captured)
}

func always(s SessionState) func(context.Context) (SessionState, error) {
	return func(context.Context) (SessionState, error) { return s, nil }
}

func after(d time.Duration, s SessionState) func(context.Context) (SessionState, error) {
	return func(ctx context.Context) (SessionState, error) {
		select {
		case <-time.After(d):
			return s, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func never(ctx context.Context) (SessionState, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

const limitInTests = 120 * time.Second

func sitting(d *fakeDesk, log *bytes.Buffer) *sessionEstablisher {
	return &sessionEstablisher{
		key: "shelf", stall: limitInTests, tag: func(a string) string { return "tag of " + a }, desk: d,
		log: slog.New(slog.NewTextHandler(log, nil)),
	}
}

// codeOf returns the code of the error that ends a run.
func codeOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	r := play(t, connectorkit.MustNew([]byte(manifestOf),
		func(context.Context, *connectorkit.Setup) ([]connectorkit.Collector, error) {
			return nil, err
		}), protocol.BrowserBinding{}, runOptions{})
	return r.code()
}

// TestWatchdog: no progress for the whole limit ends the sign-in, at that very instant.
func TestWatchdog(t *testing.T) {
	const tick = time.Nanosecond
	for name, c := range map[string]struct {
		desk  *fakeDesk
		ask   func(context.Context, protocol.Interaction) error
		took  time.Duration
		ended string
	}{
		"a page that never answers": {desk: &fakeDesk{probes: []func(context.Context) (SessionState, error){never}},
			took: limitInTests, ended: "stalled"},
		"a page that does not even notice the end": {desk: &fakeDesk{probes: []func(context.Context) (SessionState,
			error){func(context.Context) (SessionState, error) {
			time.Sleep(time.Hour)
			return Live{"ada"}, nil
		}}}, took: limitInTests, ended: "stalled"},
		"an answer just in time": {desk: &fakeDesk{probes: []func(context.Context) (SessionState,
			error){after(limitInTests-tick, Live{"ada"})}}, took: limitInTests - tick},
		"progress after progress": {desk: &fakeDesk{
			probes: []func(context.Context) (SessionState, error){after(limitInTests-tick, SignedOut{}),
				after(limitInTests-tick, Live{"ada"})},
		}, ask: func(context.Context, protocol.Interaction) error { return nil }, took: 2 * (limitInTests - tick)},
		"a question of ten hours": {desk: &fakeDesk{probes: []func(context.Context) (SessionState, error){always(SignedOut{}),
			after(time.Second, Live{"ada"})}},
			ask: func(context.Context, protocol.Interaction) error {
				time.Sleep(10 * time.Hour)
				return nil
			}, took: 10*time.Hour + time.Second},
		"a whole limit after the question": {desk: &fakeDesk{probes: []func(context.Context) (SessionState,
			error){after(limitInTests-tick, SignedOut{}), never}},
			ask: func(context.Context, protocol.Interaction) error {
				time.Sleep(time.Hour)
				return nil
			}, took: limitInTests - tick + time.Hour + limitInTests, ended: "stalled"},
		"a diagnostic that hangs, too": {desk: &fakeDesk{
			probes:   []func(context.Context) (SessionState, error){never},
			captures: func(context.Context, string) error { time.Sleep(time.Hour); return nil },
		}, took: captureLimit + captureLimit + limitInTests + lastCapture, ended: "stalled"},
	} {
		t.Run(name, func(t *testing.T) {
			for claim, cases := range map[string][]string{
				"RT-15.1": {"a page that never answers", "a page that does not even notice the end"},
				"RT-15.2": {"progress after progress"},
				"RT-15.3": {"a question of ten hours", "a whole limit after the question"},
				"RT-15.5": {"a diagnostic that hangs, too"},
			} {
				if slices.Contains(cases, name) {
					t.Attr("spec", claim)
				}
			}
			var err error
			var log bytes.Buffer
			synctest.Test(t, func(t *testing.T) {
				e := sitting(c.desk, &log)
				e.ask = c.ask
				began := time.Now()
				err = e.run(t.Context())
				if took := time.Since(began); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				time.Sleep(2 * time.Hour) // what was left behind ends
			})
			want := ""
			if c.ended != "" {
				want = "shelf_session_establish_timeout"
			}
			if got := codeOf(t, err); got != want {
				t.Errorf("ended as %q, want %q", got, want)
			}
			if stalled := slices.Contains(c.desk.labels(), atStalled); stalled != (c.ended != "") {
				t.Errorf("diagnostics %v", c.desk.labels())
			}
		})
	}
}

func TestWatchdogLimit(t *testing.T) {
	t.Attr("spec", "RT-15.4")
	for text, want := range map[string]time.Duration{
		"": defaultStall, "1": time.Millisecond, "90000": 90 * time.Second, "0": defaultStall, "-5": defaultStall,
		"1.5":  defaultStall,
		"soon": defaultStall, " 7": defaultStall, "9223372036854775807": defaultStall, "99999999999999999999": defaultStall,
	} {
		if got := stallTimeout(text); got != want {
			t.Errorf("%q means %s, want %s", text, got, want)
		}
	}
}

// TestCheckpoints: the kit frames a sign-in, a connector adds its own, each moves the marker,
// and diagnostics that fail or hang change nothing.
func TestCheckpoints(t *testing.T) {
	t.Attr("spec", "RT-14.1")
	t.Attr("spec", "RT-14.2")
	for name, captures := range map[string]func(context.Context, string) error{
		"written": nil,
		"failing": func(context.Context, string) error { return errors.New("no room") },
		"hanging": func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() },
		"stuck":   func(context.Context, string) error { time.Sleep(time.Hour); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				d := &fakeDesk{captures: captures}
				e := sitting(d, &log)
				e.ask = func(context.Context, protocol.Interaction) error { return nil }
				var seen []progressMarker
				d.probes = []func(context.Context) (SessionState, error){
					func(ctx context.Context) (SessionState, error) {
						seen = append(seen, e.marker())
						e.checkpoint(ctx, "shelf:step")
						time.Sleep(time.Second)
						seen = append(seen, e.marker())
						return SignedOut{}, nil
					},
					always(Live{"ada"}),
				}
				if err := e.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				want := []string{atBegin, atProbe, "shelf:step", atHandOff, atProbeAgain, atEstablished}
				if !slices.Equal(d.labels(), want) {
					t.Errorf("diagnostics %v", d.labels())
				}
				if len(seen) != 2 || seen[0].label != atProbe || seen[1].label != "shelf:step" || !seen[1].at.Equal(seen[0].at) &&
					captures == nil {
					t.Errorf("markers %v", seen)
				}
				if failed := strings.Contains(log.String(), "no diagnostic"); failed != (captures != nil) {
					t.Errorf("log %q", log.String())
				}
				time.Sleep(2 * time.Hour) // what was left behind ends
				if last := e.marker(); last.label != atEstablished {
					t.Errorf("last marker %v", last)
				}
			})
		})
	}
}

// The result of a probe decides how a run continues.
func TestEstablish(t *testing.T) {
	report := func(status error) func(context.Context, protocol.Interaction) error {
		return func(context.Context, protocol.Interaction) error { return status }
	}
	for name, c := range map[string]struct {
		probes []func(context.Context) (SessionState, error)
		ask    func(context.Context, protocol.Interaction) error
		known  string
		code   string
		shown  int
		kept   []string
	}{
		"alive": {probes: []func(context.Context) (SessionState, error){always(Live{"ada"})},
			kept: []string{"tag of ada"}},
		"alive, as before": {probes: []func(context.Context) (SessionState, error){always(Live{"ada"})},
			known: "tag of ada", kept: []string{"tag of ada"}},
		"another account": {probes: []func(context.Context) (SessionState, error){always(Live{"eve"})},
			known: "tag of ada", code: "shelf_account_changed"},
		"another account signs in": {probes: []func(context.Context) (SessionState, error){always(SignedOut{}),
			always(Live{"eve"})}, ask: report(nil), known: "tag of ada", code: "shelf_account_changed", shown: 1},
		"without an account": {probes: []func(context.Context) (SessionState, error){always(Live{})},
			code: "malformed_answer"},
		"signed out, may not ask": {probes: []func(context.Context) (SessionState, error){always(SignedOut{})},
			code: "shelf_session_required"},
		"walled, may not ask": {probes: []func(context.Context) (SessionState, error){always(Walled{})},
			code: "shelf_challenge"},
		"nothing found out": {probes: []func(context.Context) (SessionState, error){always(Unknown{})}, ask: report(nil),
			code: "temporary_unavailable"},
		"nil": {probes: []func(context.Context) (SessionState, error){always(nil)}, ask: report(nil),
			code: "temporary_unavailable"},
		"the owner signs in": {probes: []func(context.Context) (SessionState, error){always(SignedOut{}),
			always(Live{"ada"})}, ask: report(nil), shown: 1, kept: []string{"tag of ada"}},
		"the owner only confirms": {probes: []func(context.Context) (SessionState, error){always(SignedOut{})},
			ask:  report(nil),
			code: "shelf_session_required", shown: 1},
		"the owner passes a wall": {probes: []func(context.Context) (SessionState, error){always(Walled{}),
			always(Live{"ada"})}, ask: report(nil), shown: 1, kept: []string{"tag of ada"}},
		"the wall stays": {probes: []func(context.Context) (SessionState, error){always(Walled{})}, ask: report(nil),
			code: "shelf_challenge", shown: 1},
		"no answer": {probes: []func(context.Context) (SessionState, error){always(SignedOut{})},
			ask: report(connectorkit.ErrNotAnswered), code: "shelf_session_required", shown: 1},
		"no answer before a wall": {probes: []func(context.Context) (SessionState, error){always(Walled{})},
			ask: report(connectorkit.ErrNotAnswered), code: "shelf_challenge", shown: 1},
		"signs in, then an outage": {probes: []func(context.Context) (SessionState, error){always(SignedOut{}),
			always(Unknown{})}, ask: report(nil), code: "temporary_unavailable", shown: 1},
		"the site refuses at the probe": {probes: []func(context.Context) (SessionState,
			error){func(context.Context) (SessionState, error) {
			return nil, connectorkit.Fail(connectorkit.RateLimited, nil)
		}},
			code: "shelf_rate_limited"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			d := &fakeDesk{probes: c.probes}
			e := sitting(d, &log)
			e.ask, e.account = c.ask, c.known
			if got := codeOf(t, e.run(t.Context())); got != c.code {
				t.Errorf("ended as %q, want %q", got, c.code)
			}
			if d.shown != c.shown || d.taken != d.shown || !slices.Equal(d.kept, c.kept) {
				t.Errorf("shown %d, taken away %d, kept %v", d.shown, d.taken, d.kept)
			}
		})
	}
}

// The question names the page, without the private parts of its address.
func TestQuestion(t *testing.T) {
	var asked []protocol.Interaction
	var log bytes.Buffer
	d := &fakeDesk{probes: []func(context.Context) (SessionState, error){always(SignedOut{}), always(Live{"ada"})},
		at: pagePlace{address: "https://shelf.example/login", title: "Sign in"}}
	e := sitting(d, &log)
	e.ask = func(_ context.Context, q protocol.Interaction) error {
		asked = append(asked, q)
		return nil
	}
	must(t, e.run(t.Context()))
	if len(asked) != 1 || asked[0].Kind != protocol.AskManualAction || *asked[0].TimeoutSeconds != 1800 ||
		len(asked[0].Schema) > 0 ||
		asked[0].Message != `Sign in on the page that is shown: "Sign in" at https://shelf.example/login` {
		t.Errorf("asked %+v", asked)
	}
	for in, want := range map[string]string{
		"https://u:p@shelf.example/a/b?code=1#t": "https://shelf.example/a/b", "about:blank": "", "data:text/html,x": "",
		"::": "",
	} {
		if got := bareAddress(in); got != want {
			t.Errorf("%s is shown as %q, want %q", in, got, want)
		}
	}
	if got := displayText(" a\n\tb\u202e\u200bc\x00 " + strings.Repeat("ü", 300)); len([]rune(got)) != maxTitle ||
		!strings.HasPrefix(got, "a b c ü") {
		t.Errorf("shown as %q", got)
	}
}
