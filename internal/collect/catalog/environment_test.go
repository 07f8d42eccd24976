package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/manifest"
)

// hostile declares variables without asking the manifest's own rules.
func hostile(names ...string) *manifest.Manifest {
	m := &manifest.Manifest{ConnectorKey: "sample", Setup: &manifest.Setup{DeploymentConfig: names}}
	rr := &manifest.RuntimeRequirements{}
	for _, name := range names {
		rr.EnvironmentVariables = append(rr.EnvironmentVariables, manifest.EnvironmentVariable{Name: name})
		rr.LocalPaths = append(rr.LocalPaths, manifest.LocalPath{PathEnv: name})
	}
	m.RuntimeRequirements = rr
	return m
}

// The owner's number for the pace reaches the connector although its manifest
// does not declare it; a variable that no connector understands does not.
func TestOwnerKnobsAreGiven(t *testing.T) {
	t.Attr("spec", "RC-03")
	lookup := func(name string) (string, bool) { return "7", strings.HasPrefix(name, "PDPP_SAMPLE_") }
	m := &manifest.Manifest{ConnectorKey: "sample"}
	cmd := Connector{Manifest: m}.Command(nil, lookup)
	var got []string
	for _, pair := range cmd.Env {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PDPP_SAMPLE_") {
			got = append(got, strings.TrimPrefix(name, "PDPP_SAMPLE"))
		}
	}
	want := []string{
		"_BACKEND_FETCH_TIMEOUT_MS", "_CIRCUIT_BREAKER", "_DETAIL_MAX_CONCURRENCY_PROBE", "_DETAIL_RATE_LIMIT_STOP_AFTER",
		"_MAX_DETAIL_FETCHES_PER_RUN",
		"_MAX_RUN_WALL_CLOCK_MS", "_MAX_TAIL_DEFERRAL_GAPS_PER_RUN", "_MAX_WHOLE_RUN_WALL_CLOCK_MS",
		"_PACING_BURST_TOLERANCE_MS", "_PACING_INITIAL_INTERVAL_MS",
		"_PACING_MAX_INTERVAL_MS", "_PACING_MIN_INTERVAL_MS", "_RETRY_BUDGET_CAPACITY", "_RETRY_BUDGET_INITIAL_TOKENS",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("owner variables (-want +got):\n%s", diff)
	}
}

// Every credential, everything declared secret and everything that is called
// like a secret is taken out of what the run leaves behind.
func TestSecretsAreKnownToTheRunner(t *testing.T) {
	m := hostile("SAMPLE_REGION", "SAMPLE_API_KEY", "SAMPLE_PIN", "SAMPLE_USER", "SAMPLE_EMPTY")
	m.RuntimeRequirements.EnvironmentVariables[2].Secret = true
	m.Setup.CredentialCapture = &manifest.CredentialCapture{Fields: []manifest.CredentialField{{Name: "user",
		Env: []string{"SAMPLE_USER"}}}}
	lookup := func(name string) (string, bool) {
		if name == "SAMPLE_EMPTY" {
			return "", true
		}
		return "value of " + name, strings.HasPrefix(name, "SAMPLE_")
	}
	cmd := Connector{Manifest: m}.Command(nil, lookup)
	slices.Sort(cmd.Secrets)
	if diff := cmp.Diff([]string{"value of SAMPLE_API_KEY", "value of SAMPLE_PIN", "value of SAMPLE_USER"},
		cmd.Secrets); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if cmd := (Connector{Manifest: m}).Command(nil, nil); len(cmd.Secrets) > 0 {
		t.Errorf("without a lookup there are secrets: %v", cmd.Secrets)
	}
}
