package browsertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
)

// lantern is a connector that cannot do without a browser.
const lantern = `{"protocol_version":"0.1.0","connector_id":"lantern","version":"1.0.0","display_name":"Lantern",
 "runtime_requirements":{"bindings":{"browser":{"required":true}}},"browser":{"hosts":["lantern.example"]},
 "streams":[{"name":"lights","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",` +
	`"required":["id"],"properties":{"id":{"type":"string"}}}}]}`

// house is a machine with the shipped programs and one connection that needs a browser.
type house struct {
	t         *testing.T
	bin, home string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, bin: t.TempDir(), home: filepath.Join(t.TempDir(), "home")}
	h.must(programs.Build(h.bin, "cmd/pdpp", "cmd/pdpp-connectors"))
	folder := filepath.Join(h.home, "connectors", "lantern")
	h.must(os.MkdirAll(folder, 0o700))
	h.must(os.WriteFile(filepath.Join(folder, "manifest.json"), []byte(lantern), 0o600))
	h.must(os.WriteFile(filepath.Join(folder, "connector"), []byte("#!/bin/sh\n"), 0o700))
	if out, code := h.pdpp(os.Getenv("PATH"), "connections", "add", "lantern"); code != 0 {
		t.Fatalf("connections add: exit code %d\n%s", code, out)
	}
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// command is a shipped program in the house's environment, with these programs beside it.
func (h *house) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(h.bin, "pdpp"), args...)
	cmd.Env = []string{"PATH=" + path, "HOME=" + h.home, "PDPP_HOME=" + h.home}
	return cmd
}

func (h *house) pdpp(path string, args ...string) (out string, code int) {
	h.t.Helper()
	cmd := h.command(path, args...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

type finding struct{ Check, Status, Message, Fix string }

// browserFindings returns the doctor's findings about the browser.
func (h *house) browserFindings(path string) (found []finding) {
	h.t.Helper()
	out, _ := h.pdpp(path, "doctor", "--json")
	var all struct{ Findings []finding }
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	for _, f := range all.Findings {
		if f.Check == "browser" {
			found = append(found, f)
		}
	}
	return found
}

// The doctor starts the real browser through the connector host, as a run does. It reports why a
// browser does not work, and leaves nothing behind.
func TestDoctorTriesTheBrowser(t *testing.T) {
	t.Attr("spec", "RT-02.2")
	h := newHouse(t)
	before := rooms(t)
	if got := h.browserFindings(os.Getenv("PATH")); len(got) == 0 || got[0].Status != "ok" ||
		!strings.Contains(got[0].Message, "the browser works") {
		t.Errorf("with a browser: %+v", got)
	}

	// This browser fails to create its sandbox, and prints its arguments.
	broken, err := os.MkdirTemp("", "pdpp-broken-browser-")
	h.must(err)
	t.Cleanup(func() { _ = os.RemoveAll(broken) })
	h.must(os.WriteFile(filepath.Join(broken, "chromium"),
		[]byte("#!/bin/sh\necho \"FATAL: No usable sandbox! $@\" >&2\nexit 1\n"), 0o755))
	h.must(os.Chmod(broken, 0o755))
	got := h.browserFindings(broken + ":/usr/bin:/bin")
	if len(got) == 0 || got[0].Status != "fail" || !strings.Contains(got[0].Fix, "user namespaces") ||
		!strings.Contains(got[0].Message, "--remote-debugging-pipe") || strings.Contains(got[0].Message, "--no-sandbox") {
		t.Errorf("with a broken one: %+v", got)
	}

	if got := h.browserFindings(t.TempDir()); len(got) != 1 || got[0].Fix != "sudo apt install chromium" ||
		!strings.Contains(got[0].Message, "cin_lantern") {
		t.Errorf("without one: %+v", got)
	}
	// Browsers of other tests on this machine have rooms as well, and remove them when they end.
	left := slices.DeleteFunc(rooms(t), func(room string) bool { return slices.Contains(before, room) })
	for late := time.Now().Add(5 * time.Minute); len(left) > 0; time.Sleep(100 * time.Millisecond) {
		left = slices.DeleteFunc(left, func(room string) bool {
			_, err := os.Lstat(room)
			return errors.Is(err, fs.ErrNotExist)
		})
		if time.Now().After(late) {
			t.Fatalf("rooms are left: %v", left)
		}
	}
}

// rooms are the folders of live files in memory.
func rooms(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("/dev/shm/pdpp-browser-*")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A server without a browser reports which connections need one, and how to install it.
func TestServeWithoutABrowser(t *testing.T) {
	h := newHouse(t)
	cmd := h.command(t.TempDir(), "serve", "--role", "worker")
	log, err := cmd.StderrPipe()
	h.must(err)
	h.must(cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	text := make([]byte, 0, 64<<10)
	for part := make([]byte, 4096); !strings.Contains(string(text), "cin_lantern"); {
		n, err := log.Read(part)
		text = append(text, part[:n]...)
		if err != nil {
			t.Fatalf("it ended and said %q", text)
		}
	}
	if !strings.Contains(string(text), "sudo apt install chromium") {
		t.Errorf("it said %q", text)
	}
}
