//pdpp:tier programs

package assistanttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
)

// demonstration is a running demo with the commands of its owner.
type demonstration struct {
	program string
	env     []string
	home    string
	// What it reports when it is ready.
	URL      string `json:"url"`
	Password string `json:"owner_password"`
}

// startDemonstration starts the shipped program until the test ends.
func startDemonstration(t *testing.T) *demonstration {
	t.Helper()
	bin, temp := t.TempDir(), t.TempDir()
	if err := programs.Build(bin, "cmd/pdpp", "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	d := &demonstration{program: filepath.Join(bin, "pdpp"),
		env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + temp, "TMPDIR=" + temp, "TZ=UTC"}}
	server := exec.Command(d.program, "demo", "--json", "--listen", "127.0.0.1:0")
	var log bytes.Buffer
	server.Env, server.Stderr = d.env, &log
	out, err := server.StdoutPipe()
	check(t, err)
	check(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		if t.Failed() {
			t.Logf("the demonstration's log:\n%s", log.String())
		}
	})
	ready, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("it did not become ready: %v", err)
	}
	check(t, json.Unmarshal(ready, d))
	homes, err := filepath.Glob(filepath.Join(temp, "pdpp-demo-*"))
	if err != nil || len(homes) != 1 {
		t.Fatalf("its homes are %v: %v", homes, err)
	}
	d.home = homes[0]
	return d
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// own returns a command of the owner in the home of the demonstration.
func (d *demonstration) own(arguments ...string) *exec.Cmd {
	c := exec.Command(d.program, append([]string{"--home", d.home, "--server", "local"}, arguments...)...)
	c.Env = d.env
	return c
}

// answer returns what a command of the owner prints.
func (d *demonstration) answer(t *testing.T, arguments ...string) []byte {
	t.Helper()
	var log bytes.Buffer
	c := d.own(arguments...)
	c.Stderr = &log
	out, err := c.Output()
	if err != nil {
		t.Fatalf("pdpp %s: %v\n%s", strings.Join(arguments, " "), err, log.String())
	}
	return out
}

// bank is the stream that the tests share.
const bank = "cin_copper_1/bookings"

// grant returns the token of a grant for a stream.
func (d *demonstration) grant(t *testing.T) string {
	t.Helper()
	var made struct{ Token string }
	check(t, json.Unmarshal(d.answer(t, "grants", "create", "Assistant", "--stream", bank, "--json"), &made))
	return made.Token
}

// approve goes to the address where an app sends the owner's browser, approves what it asks for with a stream, and
// returns what the app receives at its own address.
func (d *demonstration) approve(t *testing.T, address string) url.Values {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	check(t, err)
	answer, err := http.DefaultTransport.RoundTrip(r)
	check(t, err)
	check(t, answer.Body.Close())
	request, ok := strings.CutPrefix(answer.Header.Get("Location"), "/sharing/allow/")
	if !ok {
		t.Fatalf("the browser is sent to %q: %d", answer.Header.Get("Location"), answer.StatusCode)
	}
	var decided struct{ Redirect string }
	check(t, json.Unmarshal(d.answer(t, "grants", "approve", request, "--stream", bank, "--json"), &decided))
	back, err := url.Parse(decided.Redirect)
	check(t, err)
	return back.Query()
}
