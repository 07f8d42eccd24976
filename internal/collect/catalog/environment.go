package catalog

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/ops/redact"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// ownerKnobs are the run-control variables that every connector understands,
// behind its own prefix.
var ownerKnobs = []string{
	"_MAX_DETAIL_FETCHES_PER_RUN", "_MAX_RUN_WALL_CLOCK_MS", "_MAX_WHOLE_RUN_WALL_CLOCK_MS",
	"_MAX_TAIL_DEFERRAL_GAPS_PER_RUN",
	"_PACING_INITIAL_INTERVAL_MS", "_PACING_MIN_INTERVAL_MS", "_PACING_MAX_INTERVAL_MS",
	"_PACING_BURST_TOLERANCE_MS", "_RETRY_BUDGET_CAPACITY", "_RETRY_BUDGET_INITIAL_TOKENS", "_CIRCUIT_BREAKER",
	"_DETAIL_RATE_LIMIT_STOP_AFTER", "_DETAIL_MAX_CONCURRENCY_PROBE", "_BACKEND_FETCH_TIMEOUT_MS",
}

// browserVariables are the owner's, for every connector that is given a browser.
var browserVariables = []string{"PDPP_SESSION_ESTABLISH_WATCHDOG_MS", "PDPP_CAPTURE_FIXTURES"}

// Command is what the child is started with: its program, and its environment. A refusal is a
// *NeedError where it lacks something.
func (c Connector) Command(own map[string]string, lookup func(name string) (string, bool)) runner.Command {
	env := c.environment(own, lookup)
	if data := c.dataDir(); data != "" {
		env[dataVariable] = data
	}
	var cmd runner.Command
	cmd.Path, cmd.Args, _ = c.start() // what it lacks is among the refusals
	secret := secretNames(c.Manifest)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
		_, ours := own[name]
		if !ours && value != "" && (secret[name] || redact.SecretName(name)) {
			cmd.Secrets = append(cmd.Secrets, value)
		}
	}
	sort.Strings(cmd.Env)
	cmd.Limits, cmd.Refusal = c.limits(env, cmd.Path)
	if lacks := c.lacks(env); cmd.Refusal == nil && len(lacks) > 0 {
		cmd.Refusal = lacks[0]
	}
	return cmd
}

// dataVariable names the folder in which a foreign connector keeps files of its own between runs.
const dataVariable = "PDPP_CONNECTOR_DATA_DIR"

// dataDir creates the connector's data folder and returns it; empty where there is none. It is never a
// link, which would open another folder to the connector.
func (c Connector) dataDir() string {
	if c.Dir == "" {
		return ""
	}
	dir := filepath.Join(c.Dir, folder.Data)
	_ = os.Mkdir(dir, 0o700) // it may be there, and a folder of root's has none
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// environment holds the variables of the run itself, those that the manifest declares, the
// run-control ones, and nothing else of this process's own. Lookup gives the owner's values;
// nil gives none.
func (c Connector) environment(own map[string]string, lookup func(name string) (string, bool)) map[string]string {
	env := map[string]string{"PATH": folder.SearchPath}
	maps.Copy(env, own)
	names := c.Manifest.EnvNames()
	for _, knob := range ownerKnobs {
		names = append(names, c.Manifest.EnvPrefix()+knob)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !c.mayHave(name) })
	if c.Manifest.UsesBrowser() {
		names = append(names, browserVariables...)
	}
	for _, name := range names {
		if _, ours := env[name]; ours || lookup == nil {
			continue
		}
		if value, ok := lookup(name); ok {
			env[name] = value
		}
	}
	c.setDefaults(env)
	return env
}

// secretNames are the declared variables whose values must not leave the child.
func secretNames(m *manifest.Manifest) map[string]bool {
	out := map[string]bool{}
	for _, name := range append(m.SecretEnv(), m.CapturedEnv()...) { // a credential field is treated as secret, whatever it says of itself
		out[name] = true
	}
	return out
}
