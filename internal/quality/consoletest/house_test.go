package consoletest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
)

// installed builds what an owner installs, once.
var installed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pdpp-bin")
	if err != nil {
		return "", err
	}
	atEnd(func() { _ = os.RemoveAll(dir) })
	return dir, programs.Build(dir, "cmd/pdpp", "cmd/pdpp-connectors", "cmd/pdpp-local-collector")
})

// house is a running program with a home of its own.
type house struct {
	t    *testing.T
	home string
	temp string // its folder for what is thrown away
	bin  string
	env  []string

	listen  string // empty for any port
	process *exec.Cmd
	log     strings.Builder
	ready   struct {
		URL         string `json:"url"`
		Password    string `json:"owner_password"`
		GitHubToken string `json:"github_token"`
	}
}

// found returns a house with no server running.
func found(t *testing.T, env ...string) *house {
	t.Helper()
	bin, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, home: t.TempDir(), temp: t.TempDir(), bin: filepath.Join(bin, "pdpp")}
	h.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.home, "PDPP_HOME=" + h.home, "TMPDIR=" + h.temp,
		"TZ=UTC"}, env...)
	return h
}

// open starts a command that serves, and waits until it is ready. It ends with the test.
func (h *house) open(args ...string) {
	h.t.Helper()
	h.process = exec.Command(h.bin, append(args, "--json", "--listen", cmp.Or(h.listen, "127.0.0.1:0"))...)
	h.process.Env = h.env
	h.process.Stderr = &h.log
	out, err := h.process.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.process.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(h.close)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		h.close()
		h.t.Fatalf("it did not become ready: %v\n%s", err, h.log.String())
	}
	password := h.ready.Password // is shown once
	if err := json.Unmarshal([]byte(line), &h.ready); err != nil {
		h.t.Fatalf("ready says %q: %v", line, err)
	}
	h.ready.Password = cmp.Or(h.ready.Password, password)
}

// kill ends the program as a machine that loses its power does.
func (h *house) kill() {
	_ = h.process.Process.Kill()
	_ = h.process.Wait()
	h.process = nil
}

// close ends the program as a service manager would.
func (h *house) close() {
	if h.process == nil {
		return
	}
	_ = h.process.Process.Signal(syscall.SIGTERM)
	_ = h.process.Wait()
	h.process = nil
	if h.t.Failed() {
		h.t.Logf("its log:\n%s", h.log.String())
	}
}

// pdpp runs an owner's command in the same home and returns its output.
func (h *house) pdpp(args ...string) string {
	h.t.Helper()
	cmd := exec.Command(h.bin, args...)
	cmd.Env = h.env
	out, err := cmd.Output()
	if err != nil {
		var exitError *exec.ExitError
		if errors.As(err, &exitError) {
			h.t.Fatalf("pdpp %s: %v\n%s", strings.Join(args, " "), err, exitError.Stderr)
		}
		h.t.Fatal(err)
	}
	return string(out)
}

// signIn opens a window for a test and signs in.
func (h *house) signIn(t *testing.T) *tab {
	t.Helper()
	b := open(t, h.ready.URL)
	b.visit("/")
	if !strings.HasPrefix(b.path(), "/login") {
		t.Errorf("a stranger is at %s", b.path())
	}
	b.fill(`input[name=password]`, h.ready.Password)
	b.submit(`input[name=password]`)
	b.until(`location.pathname === "/"`)
	return b
}
