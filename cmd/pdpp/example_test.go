package main

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

// TestExample collects with the real host of built-in connectors from the
// simulated provider.
func TestExample(t *testing.T) {
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "example"), Cmds: withRequests(),
		Setup: func(env *testscript.Env) error {
			server, err := sample.Start(sample.Config{Events: 450, Notes: 40, Threads: 30, Seed: 7})
			if err != nil {
				return err
			}
			env.Defer(func() { _ = server.Close() })
			env.Values[requestsKey{}] = &requests{lumen: server.Sim, before: map[string]int{}}
			env.Setenv("PDPP_CONNECTORS_BIN", filepath.Join(dir, "pdpp-connectors"))
			env.Setenv("PDPP_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("PDPP_EXAMPLE_BASE_URL", server.BaseURL)
			env.Setenv("PDPP_EXAMPLE_PACING_INITIAL_INTERVAL_MS", "5") // the simulator bears any pace
			env.Setenv("PDPP_EXAMPLE_PACING_MIN_INTERVAL_MS", "0.1")
			env.Setenv("TOKEN", server.Sim.Token())
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
	})
}

// requests are those that the simulated provider received since the script last forgot them.
type requests struct {
	lumen  *sample.Lumen
	before map[string]int
}

type requestsKey struct{}

// withRequests adds commands about the requests that the provider received: asked ROUTE expects some, forget
// starts to count again.
func withRequests() map[string]func(*testscript.TestScript, bool, []string) {
	all := maps.Clone(commands)
	all["asked"] = func(ts *testscript.TestScript, neg bool, args []string) {
		r := ts.Value(requestsKey{}).(*requests)
		n := r.lumen.Gate().Stats().ByPattern[args[0]] - r.before[args[0]]
		if (n > 0) == neg {
			ts.Fatalf("%d requests for %s", n, args[0])
		}
	}
	all["forget"] = func(ts *testscript.TestScript, _ bool, _ []string) {
		r := ts.Value(requestsKey{}).(*requests)
		r.before = r.lumen.Gate().Stats().ByPattern
	}
	return all
}
