package catalog

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
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

// browserVariables are owner's settings that every connector with a browser gets.
var browserVariables = []string{"PDPP_SESSION_ESTABLISH_WATCHDOG_MS", "PDPP_CAPTURE_FIXTURES"}

// Command is what the child is started with: its program, and its environment. A refusal is a
// *NeedError where it lacks something.
func (c Connector) Command(own map[string]string, lookup func(name string) (string, bool)) childprocess.Command {
	env := c.environment(own, lookup)
	if data := c.dataDir(); data != "" {
		env[dataVariable] = data
	}
	var cmd childprocess.Command
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
	if lacks := c.missingNeeds(env); cmd.Refusal == nil && len(lacks) > 0 {
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

// environment returns the variables of the run, those that the manifest declares, and the run-control ones, but
// nothing else of this process. lookup returns the owner's values; nil means none.
func (c Connector) environment(own map[string]string, lookup func(name string) (string, bool)) map[string]string {
	env := map[string]string{"PATH": folder.SearchPath}
	maps.Copy(env, own)
	names := append(c.Manifest.EnvNames(), c.chosenVariables()...)
	for _, knob := range ownerKnobs {
		names = append(names, c.Manifest.EnvPrefix()+knob)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !c.MayReceive(name) })
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
	if modules := strings.Join(c.Chosen.Modules, string(filepath.ListSeparator)); modules != "" {
		env["NODE_PATH"], env["PYTHONPATH"] = modules, modules
	}
	c.setDefaults(env)
	return env
}

// secretNames returns the declared variables with values that must not leave the child.
func secretNames(m *manifest.Manifest) map[string]bool {
	out := map[string]bool{}
	// a credential field is a secret, whatever the manifest declares
	for _, name := range append(m.SecretEnv(), m.CapturedEnv()...) {
		out[name] = true
	}
	return out
}
