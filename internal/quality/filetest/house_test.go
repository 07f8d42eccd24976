package filetest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/dovecot"
	"github.com/pdpp-go/pdpp/internal/quality/programs"
)

var (
	shared    = realserver.Shared[*dovecot.Server]{}
	installed string // where the programs are
	install   = sync.OnceValue(func() error {
		var err error
		if installed, err = os.MkdirTemp("", "pdpp-bin"); err != nil {
			return err
		}
		return programs.Build(installed, "cmd/pdpp", "cmd/pdpp-connectors", "cmd/pdpp-local-collector")
	})
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := errors.Join(shared.Close(), os.RemoveAll(installed)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// theServer is the one Dovecot of this package.
func theServer(t testing.TB) *dovecot.Server {
	program := dovecot.Program(t)
	shared.Start = func(dir string) (*dovecot.Server, func() error, error) {
		s, err := dovecot.Start(program, dir, dovecot.Limits{})
		if err != nil {
			return nil, nil, err
		}
		return s, s.Stop, nil
	}
	return shared.Get(t)
}

// house is an installation with a home of its own.
type house struct {
	t    *testing.T
	home string
	env  []string
	url  string // once it serves
	word string // the owner's password, then
	pid  int    // of the server, then
}

func newHouse(t *testing.T, env ...string) *house {
	t.Helper()
	if err := install(); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, home: t.TempDir()}
	h.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.home, "PDPP_HOME=" + h.home, "TMPDIR=" + t.TempDir(),
		"TZ=UTC"}, env...)
	return h
}

// mail configures the house with a user's account at the mail server.
func (h *house) mail(user string) {
	h.env = append(h.env, "IMAP_ADDRESS="+user, "IMAP_PASSWORD="+dovecot.Password, "IMAP_SERVER="+theServer(h.t).Address,
		"PDPP_IMAP_SECURITY=none")
}

// try runs a command of the owner's.
func (h *house) try(args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(filepath.Join(installed, "pdpp"), args...)
	var out, complaint strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = h.env, &out, &complaint
	err = cmd.Run()
	return out.String(), complaint.String(), err
}

// pdpp runs a command that must succeed.
func (h *house) pdpp(args ...string) string {
	h.t.Helper()
	out, complaint, err := h.try(args...)
	if err != nil {
		h.t.Fatalf("pdpp %s: %v\n%s%s", strings.Join(args, " "), err, out, complaint)
	}
	return out
}

// serve starts the server, until the test ends.
func (h *house) serve() {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(installed, "pdpp"), "serve", "--role", "web", "--listen", "127.0.0.1:0", "--json",
		"--log-level", "error")
	var complaint strings.Builder
	cmd.Env, cmd.Stderr = h.env, &complaint
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if h.t.Failed() {
			h.t.Logf("the server says: %s", complaint.String())
		}
	})
	var ready struct {
		URL      string `json:"url"`
		Password string `json:"owner_password"`
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &ready)
	}
	if err != nil {
		h.t.Fatalf("the server says %q: %v", line, err)
	}
	h.url, h.word, h.pid = ready.URL, ready.Password, cmd.Process.Pid
}

// signIn signs the owner in and returns a function that opens pages in that session.
func (h *house) signIn() func(path string) (int, http.Header, []byte) {
	h.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	window := &http.Client{Jar: jar}
	ask := func(method, path string, form url.Values) (int, http.Header, []byte) {
		h.t.Helper()
		req, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(form.Encode()))
		if err != nil {
			h.t.Fatal(err)
		}
		req.Header.Set("Origin", h.url)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		res, err := window.Do(req)
		if err != nil {
			h.t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			h.t.Fatal(err)
		}
		return res.StatusCode, res.Header, body
	}
	if status, _, body := ask(http.MethodPost, "/login", url.Values{"password": {h.word}}); status != http.StatusOK {
		h.t.Fatalf("signing in: %d %s", status, body)
	}
	return func(path string) (int, http.Header, []byte) { h.t.Helper(); return ask(http.MethodGet, path, nil) }
}

// grant creates a grant to read the streams and returns its token.
func (h *house) grant(streams ...string) string {
	h.t.Helper()
	args := []string{"grants", "create", "Reader", "--json"}
	for _, s := range streams {
		args = append(args, "--stream", s)
	}
	var made struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal([]byte(h.pdpp(args...)), &made); err != nil || made.Token == "" {
		h.t.Fatalf("a grant: %v", err)
	}
	return made.Token
}

// get sends a request with a token, and with headers as pairs of name and value.
func (h *house) get(token, path string, header ...string) (int, http.Header, []byte) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.url+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res.StatusCode, res.Header, body
}
