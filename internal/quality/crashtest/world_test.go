package crashtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

var runningQuery = store.RunQuery{Status: store.RunRunning}

// world is one store and one provider that live through several kills.
type world struct {
	bed      *connectortest.Harness
	database string // file or URL
	rand     *rand.Rand
	requests counter
	runner   string // program that plays the runner
}

// plan is which process to kill, and when.
type plan struct {
	Victim   string
	Commit   int  // kill at this commit of the run, ...
	After    bool // ... after it instead of before it
	Requests int  // or when the provider has seen so many requests, and ...
	Delay    time.Duration
}

func newWorld(t *testing.T, database, runner string, target connectortest.Target, seed uint64) *world {
	t.Helper()
	w := &world{rand: newRand(seed), runner: runner}
	sim := sample.New(sample.Config{Seed: seed + 1, Events: 600, Notes: 120, Threads: 40, Token: "tok-crash"})
	server := httptest.NewServer(w.requests.count(sim.Handler()))
	t.Cleanup(server.Close)
	var st store.Store
	var err error
	if database == "sqlite" {
		w.database = filepath.Join(t.TempDir(), "pdpp.db")
		st, err = sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, w.database), sqlite.Options{})
	} else {
		w.database = postgrestest.NewDatabase(t)
		st, err = postgres.Open(t.Context(), w.database, postgres.Options{})
	}
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w.bed = &connectortest.Harness{
		Target: target,
		Sim: &connectortest.Sim{Provider: sim, Gate: sim.Gate(), Env: map[string]string{
			"PDPP_EXAMPLE_TOKEN": "tok-crash", "PDPP_EXAMPLE_BASE_URL": server.URL,
			"PDPP_EXAMPLE_PACING_INITIAL_INTERVAL_MS": "1", "PDPP_EXAMPLE_PACING_MIN_INTERVAL_MS": "0.1", // it bears any pace
		}},
		Store: st, Env: map[string]string{},
	}
	if err := w.bed.Connect(t.Context()); err != nil {
		t.Fatalf("create connection: %v", err)
	}
	return w
}

// counter does something once the provider has seen a number of requests.
type counter struct {
	mu   sync.Mutex // guards everything below, the timer that then sets included
	left int
	then func()
}

func (c *counter) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		if c.left > 0 {
			if c.left--; c.left == 0 {
				c.then()
			}
		}
		c.mu.Unlock()
		next.ServeHTTP(rw, r)
	})
}

// arm sets the trigger; the returned function takes it back and waits for a kill under way.
func (c *counter) arm(k plan, kill func()) (disarm func()) {
	var done sync.WaitGroup
	var timer *time.Timer
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = k.Requests
	c.then = func() {
		done.Add(1)
		timer = time.AfterFunc(k.Delay, func() { defer done.Done(); kill() })
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.left = 0
		if timer != nil && timer.Stop() {
			done.Done()
		}
		done.Wait()
	}
}

// runAndKill starts a runner process and carries out the plan. It reports whether a process was
// killed before the run was over.
func (w *world) runAndKill(t *testing.T, k plan) bool {
	t.Helper()
	w.bed.Clock += time.Hour // whatever lease the last victim left has run out
	role := role{
		Database: w.database, Connector: w.bed.Target.Connector.Path, Env: w.bed.Sim.Env, Clock: w.bed.Clock,
		RunID: fmt.Sprintf("run_crash_%d_%d", os.Getpid(), runNumber.Add(1)), Plan: k,
	}
	spec, err := json.Marshal(role)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(w.runner)
	cmd.Env = append(os.Environ(), roleVariable+"=runner", specVariable+"="+string(spec))
	var output tail
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatalf("start runner: %v", err)
	}
	if k.Requests > 0 {
		disarm := w.requests.arm(k, func() {
			if k.Victim != "runner" {
				connectortest.KillConnector(role.RunID)
			}
			if k.Victim != "connector" {
				_ = cmd.Process.Kill()
			}
		})
		defer disarm()
	}
	err = cmd.Wait()
	switch code := cmd.ProcessState.ExitCode(); {
	case code == -1:
		return true // SIGKILL, by the plan
	case code == exitFailedRun:
		return true // the runner survived its connector's death
	case err == nil:
		return false
	default:
		t.Fatalf("runner process: %v\n%s", err, output.String())
		return false
	}
}

var runNumber atomic.Int64
