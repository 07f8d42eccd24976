package launch

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func unmarshal(data []byte, into any) error { return json.Unmarshal(data, into) }

// The owner's own environment is full; the child sees what its manifest
// declares and what controls the run, and nothing else.
func TestChildSeesDeclaredVariablesOnly(t *testing.T) {
	t.Setenv("LAUNCH_TEST_AMBIENT", "not for the child")
	b := newBed(t)
	for name, value := range map[string]string{
		"SAMPLE_REGION": "north", "SAMPLE_TOKEN": "", "SAMPLE_CLIENT_SECRET": "swordfish-very-secret",
		"PDPP_SAMPLE_MAX_RUN_WALL_CLOCK_MS": "1000", "PDPP_OTHER_MAX_RUN_WALL_CLOCK_MS": "1", "PDPP_SAMPLE_UNKNOWN": "1",
		"PDPP_OWNER_PASSWORD": "x", "HOME": "/nowhere", "UNDECLARED": "1", "PDPP_RUN_ID": "forged", "PATH": "/forged",
	} {
		b.env[name] = value
	}
	_, env, r := b.started(t, RunRequest{})
	got := strings.Split(env, "\n")
	slices.Sort(got)
	if last := got[len(got)-1]; !strings.HasPrefix(last, "TMPDIR=") || !strings.Contains(last, "pdpp-run-") {
		t.Errorf("its folder for temporary files is not its own: %s", last)
	}
	work := strings.TrimPrefix(got[len(got)-1], "TMPDIR=")
	got = got[:len(got)-1]
	want := []string{
		"GORACE=atexit_sleep_ms=0", "HOME=" + work, roleVariable + "=echoes", "PATH=/usr/local/bin:/usr/bin:/bin",
		"PDPP_CONNECTOR_INSTANCE_ID=" + connection, "PDPP_RUN_ID=" + r.RunID, "PDPP_RUN_TRIGGER_KIND=manual",
		"PDPP_SAMPLE_MAX_RUN_WALL_CLOCK_MS=1000", "SAMPLE_CLIENT_SECRET=swordfish-very-secret", "SAMPLE_REGION=north",
		"SAMPLE_TOKEN=",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}
