package childprocess

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// Folders of ended processes are removed; folders of running processes and unrelated folders stay.
func TestRemoveStaleWorkdirs(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	over := exec.Command("true")
	if err := over.Run(); err != nil {
		t.Fatal(err)
	}
	own, err := createWorkdir()
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(temp, workdirPrefix+strconv.Itoa(over.Process.Pid)+"-123")
	foreign := filepath.Join(temp, "pdpp-run-notes")
	for _, dir := range []string{filepath.Join(dead, "locked"), foreign} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	RemoveStaleWorkdirs()
	for path, stays := range map[string]bool{own: true, foreign: true, dead: false} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}
