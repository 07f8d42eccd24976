package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/manifest/folder"
)

const token = "tok-51c0-never-shown"

// host is a home folder with the diary connector installed.
type host struct {
	home string
	env  []string
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{home: t.TempDir()}
	h.env = []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "GORACE=atexit_sleep_ms=0"}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile("testdata/diary.json")
	if err != nil {
		t.Fatal(err)
	}
	err = os.MkdirAll(h.connector(""), 0o700)
	if err == nil {
		err = os.WriteFile(h.connector("manifest.json"), manifest, 0o600)
	}
	if err == nil {
		err = os.Symlink(self, h.connector("connector"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// connector returns the path of a file in the connector's own folder.
func (h *host) connector(name string) string {
	return filepath.Join(h.home, ".config", "pdpp", "connectors", "diary", name)
}

// runs is the file in the connector's data folder to which it adds a line at each start. The rest of its
// folder is read-only for it.
func (h *host) runs(source string) string {
	return filepath.Join(h.connector(folder.Data), source+".runs")
}

// program runs the real program and returns its output and its exit code.
func (h *host) program(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("pdpp-local-collector", args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = h.env, &out, &errs, h.home
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String()+errs.String(), token) {
		t.Errorf("%v shows the token:\n%s%s", args, &out, &errs)
	}
	return out.String(), errs.String(), code
}

// must runs the program, which must end with the code.
func (h *host) must(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, got := h.program(t, args...)
	if got != code {
		t.Fatalf("%v ended with %d, want %d\n%s%s", args, got, code, stdout, stderr)
	}
	return stdout, stderr
}

// enrol sets a source up and returns the path of its diary.
func (h *host) enrol(t *testing.T, s *server, source string, more ...string) (diary string) {
	t.Helper()
	s.expect(source)
	h.must(t, exitOK, "setup", "--base-url", s.URL, "--code", "lde_"+source, "--write-only")
	diary = filepath.Join(h.home, source+".txt")
	profile := filepath.Join(h.home, ".config", "pdpp", "collectors", source+".env")
	body, err := os.ReadFile(profile)
	if err == nil {
		for _, line := range more {
			name, _, _ := strings.Cut(line, "=")
			body = regexp.MustCompile(`(?m)^`+name+`=.*\n`).ReplaceAll(body, nil)
			body = append(body, line+"\n"...)
		}
		err = os.WriteFile(profile, append(body, "DIARY_FILE="+diary+"\nDIARY_RUNS="+h.runs(source)+"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return diary
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func lines(t *testing.T, path string) int {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return bytes.Count(body, []byte("\n"))
}

// files reads everything below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Type()&os.ModeSymlink != 0 {
			return err
		}
		body, err := os.ReadFile(path)
		out[path] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
