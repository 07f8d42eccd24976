package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"pdpp/internal/lab/programs"
	"pdpp/providersim/lumen"
)

// TestExample collects with the real host of built-in connectors from the
// simulated provider.
func TestExample(t *testing.T) {
	dir := t.TempDir()
	if err := programs.Build(dir, "pdpp/cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "example"), Cmds: commands,
		Setup: func(env *testscript.Env) error {
			server, err := lumen.Start(lumen.Config{Events: 450, Notes: 40, Threads: 30, Seed: 7})
			if err != nil {
				return err
			}
			env.Defer(func() { _ = server.Close() })
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
