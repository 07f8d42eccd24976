package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/view"
)

// A support file produces the same verdict elsewhere, and holds nothing personal.
func TestSupportFileGivesTheSameJudgement(t *testing.T) {
	s := newStatusShop(t)
	for _, c := range s.view().Connections {
		line := s.tell("support", c.ID)
		for _, word := range []string{c.DisplayName, `:"attic"`, "hunter2", "example.org", "could not sign in"} {
			if strings.Contains(line, word) {
				t.Errorf("%s: the file holds %q: %s", c.ID, word, line)
			}
		}
		var kept view.Case
		if err := json.Unmarshal([]byte(line), &kept); err != nil {
			t.Fatal(err)
		}
		again := view.Judge(&kept.Evidence, kept.Now, kept.RuntimeOK)
		if again.Health.State != c.Health.State || again.Verdict.Pill != c.Verdict.Pill ||
			again.Verdict.Channel != c.Verdict.Channel {
			t.Errorf("%s: %s %v %s became %s %v %s", c.ID, c.Health.State, c.Verdict.Pill, c.Verdict.Channel,
				again.Health.State, again.Verdict.Pill, again.Verdict.Channel)
		}
	}
}

func TestSupportNeverReplacesAFile(t *testing.T) {
	s := newStatusShop(t)
	path := filepath.Join(t.TempDir(), "case.jsonl")
	if out := s.tell("support", "cin_locked", "--output", path); !strings.Contains(out, "Wrote "+path) ||
		!strings.Contains(out, "[Can't collect]") {
		t.Errorf("out %q", out)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Fatalf("file %+v: %v", info, err)
	}
	before, err := os.ReadFile(path)
	s.must(err)
	env, _, errOut := testEnvironment(t, nil, "support", "cin_well", "--output", path, "--home", s.home)
	if code := Main(env); code != failure.ExitFailed || !strings.Contains(errOut.String(), "exists already") {
		t.Errorf("code %d, err %q", code, errOut)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed: %v", err)
	}
	env, _, errOut = testEnvironment(t, nil, "support", "cin_well", "--output", filepath.Join(path, "below"), "--home",
		s.home)
	if code := Main(env); code != failure.ExitFailed || !strings.Contains(errOut.String(), "could not be written") {
		t.Errorf("code %d, err %q", code, errOut)
	}
	if out := s.tell("support", "cin_well", "--json", "--output", path+"2"); !strings.Contains(out, `"state":"healthy"`) {
		t.Errorf("out %q", out)
	}
}
