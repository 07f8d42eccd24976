// Package oidctest runs the real oidc-provider for tests that sign in at a provider. This
// third-party server rotates refresh tokens and revokes the token family if one is used twice.
package oidctest

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

//go:embed server.mjs
var program string

// What the server knows the app of the tests by.
const (
	ClientID     = "pdpp-test"
	ClientSecret = "secret-of-the-app-under-test"
)

// modules is the variable that names the folder of the installed packages.
const modules = "PDPP_TEST_NODE_MODULES"

// Options of a server.
type Options struct {
	// TokenSeconds is how long an access token is good.
	TokenSeconds int
	// Withheld is a scope that the person does not allow.
	Withheld string
}

// Server is a running provider.
type Server struct{ URL string }

// Start runs a provider until the test is over.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	folder := os.Getenv(modules)
	if folder == "" {
		t.Fatal("set " + modules + " to a node_modules folder with oidc-provider in it, as make test does")
	}
	file := filepath.Join(t.TempDir(), "server.mjs")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	cmd := exec.Command("node", file)
	cmd.Env = append(os.Environ(), "OIDC_MODULES="+folder, fmt.Sprint("OIDC_PORT=", port), "OIDC_SECRET="+ClientSecret,
		fmt.Sprint("OIDC_TOKEN_SECONDS=", max(o.TokenSeconds, 1)), "OIDC_WITHHELD="+o.Withheld, "NODE_NO_WARNINGS=1")
	cmd.Stderr = io.Discard // it speaks of the version of node
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal("start node: ", err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "listening" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return &Server{URL: fmt.Sprint("http://127.0.0.1:", port)}
		}
	}
	t.Fatal("the provider did not start")
	return nil
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Log is what the provider saw.
type Log struct {
	Refreshed     int            `json:"refreshed"`
	SignIns       int            `json:"signIns"`
	FamiliesEnded int            `json:"familiesEnded"`
	Requests      int            `json:"requests"`
	Refused       map[string]int `json:"refused"`
}

// Log returns what the provider has recorded so far.
func (s *Server) Log(t testing.TB) (l Log) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.get(t, "/test/log")), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// Withdraw takes every consent back, as a person does on the provider's page.
func (s *Server) Withdraw(t testing.TB) { s.get(t, "/test/withdraw") }

// Decline sets whether the person declines consent from now on.
func (s *Server) Decline(t testing.TB, on bool) {
	s.get(t, map[bool]string{true: "/test/decline?on=yes", false: "/test/decline?on=no"}[on])
}

// Fail lets the next answers of the token endpoint be 503.
func (s *Server) Fail(t testing.TB, answers int) { s.get(t, fmt.Sprint("/test/silent?n=", answers)) }

func (s *Server) get(t testing.TB, path string) string {
	t.Helper()
	resp, err := http.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", path, resp.StatusCode, b, err)
	}
	return string(b)
}

// Accepts reports whether the provider lets the access token read.
func (s *Server) Accepts(t testing.TB, access string) bool {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.URL+"/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+access)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// person returns a client that acts as a person's browser.
func person(stop string) *http.Client {
	jar, _ := cookiejar.New(nil) // without options it never fails
	return &http.Client{Jar: jar, Timeout: time.Minute, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if stop != "" && strings.HasPrefix(r.URL.String(), stop) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// Consent follows an address to the provider as a person does. It returns the parameters sent to
// the redirect address, without requesting that address.
func (s *Server) Consent(t testing.TB, address, redirect string) url.Values {
	t.Helper()
	resp, err := person(redirect).Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		b, _ := io.ReadAll(resp.Body)
		t.Fatalf("the provider does not send the person back: %d %s", resp.StatusCode, b)
	}
	return back.Query()
}

var guard = regexp.MustCompile(`name="xsrf" value="([^"]+)"`)

// Enter enters a code on the provider's page.
func (s *Server) Enter(t testing.TB, address, code string) {
	t.Helper()
	client := person("")
	form := url.Values{"user_code": {code}}
	page := do(t, client, http.MethodGet, address, nil)
	for range 2 { // the code, and that it is the right device
		found := guard.FindStringSubmatch(page)
		if found == nil {
			break
		}
		form.Set("xsrf", found[1])
		page = do(t, client, http.MethodPost, address, form)
		form.Set("confirm", "yes")
	}
	if !strings.Contains(page, "Success") {
		t.Fatalf("the code was not taken: %s", page)
	}
}

func do(t testing.TB, client *http.Client, method, address string, form url.Values) string {
	t.Helper()
	var resp *http.Response
	var err error
	if method == http.MethodGet {
		resp, err = client.Get(address)
	} else {
		resp, err = client.PostForm(address, form)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
