package conformance

import (
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/manifest"
)

// Target is a connector and the access to an account.
type Target struct {
	Manifest *manifest.Manifest
	// Command is the executable with its arguments.
	Command []string
	// Lookup returns the value of a variable that the manifest declares.
	Lookup func(name string) (string, bool)
	// Answers are the replies to questions, by field name. Without them every question is canceled.
	Answers map[string]string
	// Patience is how long the connector may be silent. Zero means a minute.
	Patience time.Duration
}

// searchPath is the PATH of every connector.
const searchPath = "/usr/local/bin:/usr/bin:/bin"

// tuningSuffixes are the owner's tuning variables that every connector gets, without its prefix.
var tuningSuffixes = []string{
	maxDetails,
	"_MAX_RUN_WALL_CLOCK_MS",
	"_PACING_INITIAL_INTERVAL_MS",
	"_PACING_MIN_INTERVAL_MS",
}

const maxDetails = "_MAX_DETAIL_FETCHES_PER_RUN"

// environment returns the complete environment of the process. Overrides take precedence; an empty one removes
// the variable.
func (t *Target) environment(dir string, overrides map[string]string) []string {
	env := []string{
		"PATH=" + searchPath,
		"TMPDIR=" + dir,
		"PDPP_RUN_ID=run_conformance",
		"PDPP_CONNECTOR_INSTANCE_ID=conformance",
		"PDPP_RUN_TRIGGER_KIND=manual",
	}
	names := t.Manifest.EnvNames()
	for _, k := range tuningSuffixes {
		names = append(names, t.Manifest.EnvPrefix()+k)
	}
	for _, name := range names {
		value, ok := overrides[name]
		if !ok && t.Lookup != nil {
			value, ok = t.Lookup(name)
		}
		if ok && value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// unset returns the variables that the connector needs to sign in and that have no value.
func (t *Target) unset() string {
	var names []string
	for _, name := range t.Manifest.CredentialEnv() {
		if v, ok := t.lookup(name); !ok || v == "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (t *Target) lookup(name string) (string, bool) {
	if t.Lookup == nil {
		return "", false
	}
	return t.Lookup(name)
}
