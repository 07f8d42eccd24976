package catalog

import (
	"maps"
	"sort"

	"pdpp/internal/collect/runner"
	"pdpp/internal/ops/redact"
	"pdpp/manifest"
)

// childPath is the one search path that every connector gets, whatever the
// owner's own is: enough to start an interpreter from a script's first line.
const childPath = "/usr/local/bin:/usr/bin:/bin"

// ownerKnobs are the run-control variables that every connector understands,
// behind its own prefix.
var ownerKnobs = []string{
	"_MAX_DETAIL_FETCHES_PER_RUN", "_MAX_RUN_WALL_CLOCK_MS", "_MAX_TAIL_DEFERRAL_GAPS_PER_RUN",
	"_PACING_INITIAL_INTERVAL_MS", "_PACING_MIN_INTERVAL_MS", "_PACING_MAX_INTERVAL_MS",
	"_PACING_BURST_TOLERANCE_MS", "_RETRY_BUDGET_CAPACITY", "_RETRY_BUDGET_INITIAL_TOKENS", "_CIRCUIT_BREAKER",
	"_DETAIL_RATE_LIMIT_STOP_AFTER", "_BACKEND_FETCH_TIMEOUT_MS",
}

// Command is what the child is started with: the variables of the run itself,
// those that its manifest declares, the run-control ones, and nothing else of
// this process's own. Lookup gives the owner's values; nil gives none.
func (c Connector) Command(own map[string]string, lookup func(name string) (string, bool)) runner.Command {
	env := map[string]string{"PATH": childPath}
	maps.Copy(env, own)
	names := c.Manifest.EnvNames()
	for _, knob := range ownerKnobs {
		names = append(names, c.Manifest.EnvPrefix()+knob)
	}
	cmd := runner.Command{Path: c.Path, Args: c.Args}
	secret := secretNames(c.Manifest)
	for _, name := range names {
		if _, ours := env[name]; ours || !c.mayHave(name) || lookup == nil {
			continue
		}
		value, ok := lookup(name)
		if !ok {
			continue
		}
		env[name] = value
		if value != "" && (secret[name] || redact.SecretName(name)) {
			cmd.Secrets = append(cmd.Secrets, value)
		}
	}
	c.setDefaults(env)
	cmd.Limits, cmd.Refusal = c.limits(env)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	sort.Strings(cmd.Env)
	return cmd
}

// secretNames are the declared variables whose values must not leave the child.
func secretNames(m *manifest.Manifest) map[string]bool {
	out := map[string]bool{}
	for _, name := range m.SecretEnv() {
		out[name] = true
	}
	if m.Setup != nil && m.Setup.CredentialCapture != nil {
		for _, f := range m.Setup.CredentialCapture.Fields {
			for _, name := range f.Env {
				out[name] = true // a credential field is treated as secret, whatever it says of itself
			}
		}
	}
	return out
}
