package serve_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/cli"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/serve"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

// dayClock is the clock of server and provider. Virtual time stops while a child runs, and real time passes in it; so
// the two are added.
type dayClock struct {
	began   int64 // real
	virtual atomic.Int64
}

func realNow() int64 {
	var t syscall.Timeval
	_ = syscall.Gettimeofday(&t) // never fails for such a pointer
	return t.Nano()
}

// inside is the clock for code in virtual time.
func (c *dayClock) inside() time.Time {
	c.virtual.Store(time.Now().UnixNano())
	return c.outside()
}

// outside is the clock for the provider, which is asked only while virtual time stops.
func (c *dayClock) outside() time.Time {
	return time.Unix(0, c.virtual.Load()+realNow()-c.began).UTC()
}

// day is a server that collects from a provider that throttles it.
type day struct {
	t     *testing.T
	home  string
	host  string // the program of the built-in connectors
	clock *dayClock
	sim   *sample.Server
	st    store.Store
	key   credential.Key
	owner *service.Service
	id    string

	refused int            // runs of the owner's that had to wait
	due     map[string]int // foreground runs by their exit
	anyway  []time.Time
}

func (d *day) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *day) lookup(name string) (string, bool) {
	v, ok := map[string]string{
		"PDPP_EXAMPLE_BASE_URL": d.sim.BaseURL, "PDPP_EXAMPLE_PACING_INITIAL_INTERVAL_MS": "1",
		"PDPP_EXAMPLE_PACING_MIN_INTERVAL_MS": "1",
		"PDPP_EXAMPLE_PACING_MAX_INTERVAL_MS": "20", "PDPP_CONNECTORS_BIN": d.host, "PDPP_EXAMPLE_RETRY_BUDGET_CAPACITY": "2",
		"PDPP_EXAMPLE_RETRY_BUDGET_INITIAL_TOKENS": "2",
	}[name]
	return v, ok
}

// serve starts the server like the program does, and returns a function that stops it.
func (d *day) serve() (stop func()) {
	var err error
	d.st, err = sqlite.Open(d.t.Context(), sqlitetest.NewDatabase(d.t, filepath.Join(d.home, "pdpp.db")), sqlite.Options{})
	d.must(err)
	d.key, err = credential.LoadKey(d.home)
	d.must(err)
	connectors := catalog.Catalog{Host: d.host, Dir: filepath.Join(d.home, "connectors")}
	d.owner = service.New(service.Config{Store: d.st, Connectors: connectors,
		Key: func() (credential.Key, error) { return d.key, nil }, Now: d.clock.inside})
	ctx, cancel := context.WithCancel(d.t.Context())
	over := make(chan error, 1)
	go func() {
		over <- serve.Run(ctx, serve.Config{
			Role: serve.All, Store: d.st, Database: scheduler.Database{SQLite: d.st.(interface{ Writer() *sql.DB }).Writer()},
			Worker: store.Worker{ID: "w1", Host: "day", Capabilities: []string{"network"}}, Connectors: connectors,
			Lookup:   d.lookup,
			Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")}, Key: d.key, Log: slog.New(slog.DiscardHandler),
			Now:    d.clock.inside,
			Rhythm: scheduler.Rhythm{Pass: time.Minute, Beat: 28 * time.Second, Poll: 90 * time.Second},
		})
	}()
	return func() {
		cancel()
		d.must(<-over)
		d.must(d.st.Close())
	}
}

// runNow presses the owner's button and reads the result.
func (d *day) runNow(anyway bool) {
	d.t.Helper()
	ask := d.owner.Run
	if anyway {
		ask = d.owner.RunAnyway
		d.anyway = append(d.anyway, d.clock.inside())
	}
	var problem *api.Error
	switch err := ask(d.t.Context(), d.id); {
	case err == nil:
	case errors.As(err, &problem) && problem.Code == api.CodeProviderWait:
		d.refused++
		if problem.Until == nil || !problem.Until.After(d.clock.inside()) || problem.Next == "" {
			d.t.Errorf("the owner is shown %+v", problem)
		}
	case errors.As(err, &problem) && problem.Code == api.CodeRunActive:
	default:
		d.t.Fatal(err)
	}
}

// foreground is "pdpp run --due" beside the server, or "pdpp run CONNECTION".
func (d *day) foreground(args ...string) {
	d.t.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(cli.Env{
		Args: append(args, "--home", d.home), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Lookup: d.lookup,
		LookPath: exec.LookPath, Executable: d.host, Holder: "day:1", Exit: func(int) {}, Now: d.clock.inside,
	})
	d.due[fmt.Sprint(strings.Join(args[:2], " "), ": exit ", code)]++
	if code != failure.ExitOK && code != failure.ExitWait && code != failure.ExitActive {
		d.t.Errorf("pdpp %v: %d\n%s%s", args, code, &out, &errs)
	}
}

func (d *day) evidence() evidence.Evidence {
	d.t.Helper()
	found, err := d.st.Evidence(d.t.Context(), evidence.Query{ConnectionIDs: []string{d.id}})
	d.must(err)
	return found[0]
}

// A provider throttles lists and details over a day, with a time to come back in
// either form and without one. Whatever asks for runs meanwhile, nothing reaches the
// provider before its time, and everything is collected in the end.
//
//pdpp:tier unraced
func TestThrottledDay(t *testing.T) {
	t.Attr("spec", "RT-23.1")
	t.Attr("spec", "CH-04.2")
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	clock := &dayClock{began: realNow()}
	sim, err := sample.Start(sample.Config{Seed: 12, Events: 500, Notes: 450, Threads: 230, Now: clock.outside})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sim.Close() }()
	lists, details := "/v1/", "/v1/threads/"
	for _, f := range []providersim.Fault{
		{Kind: providersim.Throttle, Path: "/v1/notes", Exact: true, Skip: 1, Count: 1, RetryAfter: providersim.RetrySeconds,
			Seconds: 3600},
		{Kind: providersim.Throttle, Path: "/v1/events", Exact: true, Skip: 4, Count: 1, RetryAfter: providersim.RetryDate,
			Seconds: 5400},
		{Kind: providersim.Throttle, Path: "/v1/threads", Exact: true, Skip: 1, Count: 1,
			RetryAfter: providersim.RetrySeconds, Seconds: 2400},
		{Kind: providersim.Throttle, Path: details, Skip: 20, Count: 1, RetryAfter: providersim.RetrySeconds, Seconds: 7200},
		{Kind: providersim.Throttle, Path: details, Skip: 60, Count: 3},
		{Kind: providersim.Unavailable, Path: details, Skip: 100, Count: 1, RetryAfter: providersim.RetrySeconds,
			Seconds: 1800},
		{Kind: providersim.Throttle, Path: lists, Skip: 190, Count: 1, RetryAfter: providersim.RetrySeconds, Seconds: 4000},
		{Kind: providersim.Latency, Path: details, DelayMS: 20}, // so that several are on their way when one is refused
	} {
		if _, err := sim.Sim.Gate().Add(f); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := &day{t: t, home: home, host: filepath.Join(dir, "pdpp-connectors"), clock: clock, sim: sim,
			due: map[string]int{}}
		clock.inside()
		stop := d.serve()
		time.Sleep(time.Minute)
		every := &api.Schedule{IntervalSeconds: 1200, Enabled: true}
		c, err := d.owner.Connect(t.Context(),
			api.Connect{ConnectorID: "example", DisplayName: "Archive", Fields: map[string]string{"token": "not this one"},
				Schedule: every})
		d.must(err)
		d.id = c.ID
		time.Sleep(5 * time.Minute)
		d.must(d.owner.SetCredential(t.Context(), d.id, map[string]string{"token": sim.Sim.Token()}))
		cooled := map[string]bool{}
		for quarter := range 4 * 24 {
			time.Sleep(15 * time.Minute)
			switch quarter % 8 {
			case 0:
				d.runNow(false)
			case 3:
				d.foreground("run", "--due")
			case 5:
				d.foreground("run", d.id)
			case 6:
				d.must(d.owner.SetCredential(t.Context(), d.id, map[string]string{"token": sim.Sim.Token()}))
			}
			d.look(cooled)
		}
		d.runNow(true)
		time.Sleep(5 * time.Minute)
		d.judge(cooled)
		stop()
	})
}

// look holds what the owner reads against what is stored.
func (d *day) look(cooled map[string]bool) {
	d.t.Helper()
	now := d.clock.inside()
	e := d.evidence()
	connections := view.View{Reader: d.st, Now: func() time.Time { return now }}
	c, err := connections.One(d.t.Context(), d.id)
	d.must(err)
	w := e.ActiveWait(now)
	retry := ""
	for i := range c.Verdict.Detail.Conditions {
		if f := &c.Verdict.Detail.Conditions[i]; f.Type == "RetryPolicyClear" && f.Fails() {
			retry = string(f.Reason)
		}
	}
	cooled[retry] = true
	if w == nil || e.Active != nil {
		return
	}
	if at := c.Verdict.Detail.NextAttemptAt; at == nil || at.Before(w.Until) {
		d.t.Errorf("left alone until %v, and the next attempt is at %v", w.Until, at)
	}
	if c.Verdict.Channel != "calm" {
		d.t.Errorf("left alone until %v, and the verdict is %s: %s", w.Until, c.Verdict.Channel, c.Verdict.ForwardStatement)
	}
	for _, a := range c.Verdict.RequiredActions {
		if a.Kind == "retry_gap" || a.Kind == "refresh_now" {
			d.t.Errorf("left alone until %v, and the owner is asked to %s", w.Until, a.CTA)
		}
	}
}

// mostInFlight is how many requests the example connector makes at the same time.
const mostInFlight = 4

// early counts the requests that were sent although the sender knew of an announced wait. The run that
// was refused may have had others on their way. A later run knows of the wait.
func (d *day) early(runs []store.Run) (announced, early int) {
	d.t.Helper()
	requests := d.sim.Sim.Gate().Requests()
	for _, request := range requests {
		if request.LeaveUntil.IsZero() {
			continue
		}
		announced++
		onTheirWay := 0
		for _, r := range requests {
			forced := slices.ContainsFunc(d.anyway, func(at time.Time) bool { return !r.At.Before(at) })
			if r.Number <= request.Before || !r.At.Before(request.LeaveUntil) || forced {
				continue
			}
			sameRun := !slices.ContainsFunc(runs, func(run store.Run) bool {
				return run.StartedAt.After(request.At) &&
					!run.StartedAt.After(r.At)
			})
			if onTheirWay++; sameRun && onTheirWay < mostInFlight {
				continue
			}
			early++
			d.t.Logf("%s %s at %v, asked at %v to wait until %v", r.Method, r.Path, r.At, request.At, request.LeaveUntil)
		}
	}
	return announced, early
}

// judge counts what reached the provider before its time, and holds what is stored
// against what exists.
func (d *day) judge(cooled map[string]bool) {
	d.t.Helper()
	all, err := d.st.ListRuns(d.t.Context(), store.RunQuery{ConnectionID: d.id, Limit: 1000})
	d.must(err)
	announced, early := d.early(all)
	requests := len(d.sim.Sim.Gate().Requests())
	kinds := map[string]int{}
	for _, r := range all {
		kinds[string(r.Trigger)+" "+string(r.Status)]++
	}
	missing, items := 0, 0
	for stream, truth := range d.sim.Sim.Truth() {
		for key := range truth {
			items++
			if _, err := d.st.Record(d.t.Context(), d.id, stream, key); err == nil {
				continue
			}
			accounted, err := d.st.AccountedKeys(d.t.Context(), d.id, stream, "", []string{key})
			d.must(err)
			if !accounted[key] {
				missing++
			}
		}
	}
	d.t.Logf("announced waits: %d; requests: %d; sent while a wait was announced: %d; throttled: %d; runs: %v; owner's "+
		"runs that had to wait: %d; foreground: %v; delays shown: %v; items: %d, neither stored nor declared: %d",
		announced, requests, early, d.sim.Sim.Gate().Stats().Throttled, kinds, d.refused, d.due, cooled, items, missing)
	if early > 0 || missing > 0 {
		d.t.Errorf("%d requests before their time, %d items neither stored nor declared", early, missing)
	}
	if announced < 5 || d.refused == 0 || !cooled["source_pressure"] || len(all) < 10 {
		d.t.Errorf("the day proves too little: %d announced, %d refused, shown %v, %d runs", announced, d.refused, cooled,
			len(all))
	}
}
