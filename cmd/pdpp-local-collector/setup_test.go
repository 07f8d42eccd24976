package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetupConnectsAndLogoutEnds goes from a pasted command to the first records, adds a
// second source to the same device, and leaves.
func TestSetupConnectsAndLogoutEnds(t *testing.T) {
	h := newHost(t)
	s := newServer(t, "dev_attic", token)
	profiles := filepath.Join(h.home, ".config", "pdpp", "collectors")
	_, message := h.must(t, exitUsage, "setup", "--base-url", s.URL, "--code", "lde_stale")
	if !strings.Contains(message, "expired") || !strings.Contains(message, "next: Make a new code") {
		t.Errorf("a stale code: %s", message)
	}
	diary := h.enrol(t, s, "dsrc_1")
	write(t, diary, "monday")
	info, err := os.Stat(filepath.Join(profiles, "dsrc_1.env"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	h.must(t, exitOK, "run", "--source-instance-id", "dsrc_1")
	s.mustHave(t, "monday")

	// The second source joins the device: the server sent no token for it.
	s.expect("dsrc_2")
	h.env = append(h.env, "DIARY_FILE="+diary, "DIARY_RUNS="+h.runs("dsrc_2"))
	out, _ := h.must(t, exitOK, "setup", "--base-url", s.URL, "--code", "lde_dsrc_2", "--device-label", "Attic")
	if !strings.Contains(out, "connected  diary as dsrc_2") || !strings.Contains(out, "status     healthy") {
		t.Errorf("the first pass:\n%s", out)
	}
	body, err := os.ReadFile(filepath.Join(profiles, "dsrc_2.env"))
	if err != nil || !strings.Contains(string(body), "PDPP_LOCAL_DEVICE_TOKEN="+token+"\n") {
		t.Errorf("the second profile: %v", err)
	}
	out, _ = h.must(t, exitOK, "logout", "--source-instance-id", "dsrc_2")
	if left, err := os.ReadDir(profiles); err != nil || len(left) != 0 || strings.Count(out, "removed") != 2 {
		t.Errorf("left %v, %v:\n%s", left, err, out)
	}
	if queues, _ := filepath.Glob(filepath.Join(h.home, ".local/state/pdpp/collectors/*sqlite*")); len(queues) != 0 {
		t.Errorf("queues are left: %v", queues)
	}
}
