package browser

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// roleVariable makes this test program play a connector that signs in and then hangs.
	roleVariable = "PDPP_TEST_BROWSER_ROLE"
	// killsVariable is how often each kind of kill is done; `make chaos` asks for many.
	killsVariable = "PDPP_TEST_BROWSER_KILLS"
)

// victim starts the browser of the binding on its standard input, signs in at the site, reports it, and waits to be
// killed.
func victim() {
	var given struct {
		Binding protocol.BrowserBinding `json:"binding"`
		Site    string                  `json:"site"`
	}
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
	}
	fail(json.UnmarshalRead(os.Stdin, &given))
	ctx := context.Background()
	p, err := launch(ctx, given.Binding)
	fail(err)
	fmt.Println("started", p.cmd.Process.Pid)
	tabs, err := p.attachPages(ctx, newDocumentGuard(given.Binding.Hosts, given.Binding.Local))
	fail(err)
	first, err := tabs.firstTab(ctx)
	fail(err)
	pages, err := newPageTransport(Site{Home: given.Site}, first, tabs.openTab)
	fail(err)
	req, err := http.NewRequestWithContext(ctx, "POST", given.Site+"/login?account=ada", nil)
	fail(err)
	_, err = pages.RoundTrip(req)
	fail(err)
	fmt.Println("signed in")
	select {}
}

// Whenever a connector is killed, its browser exits. An earlier sign-in stays in the profile, without our own copy.
func TestKilledConnector(t *testing.T) {
	web := newSite(t)
	starts, sessions := 2, 2
	if n, err := strconv.Atoi(os.Getenv(killsVariable)); err == nil {
		starts, sessions = n, n
	}
	var left, kept int
	var longest time.Duration
	t.Run("while it starts", func(t *testing.T) {
		for i := range starts {
			b := roomFor(t, web)
			child, messages := connector(t, b, web)
			timer := time.NewTimer(rand.N(1500 * time.Millisecond))
			select {
			case <-timer.C:
			case <-messages:
				<-timer.C
			}
			killed(t, child)
			took, n := vanish(t, b)
			longest, left = max(longest, took), left+n
			if i%5 == 0 { // the profile is usable; those of sign-ins are looked into besides
				started(t, b).end(t.Context())
			}
		}
	})
	t.Run("after a sign-in", func(t *testing.T) {
		for range sessions {
			b := roomFor(t, web)
			child, texts := connector(t, b, web)
			for line := range texts {
				if line == "signed in" {
					break
				}
			}
			time.Sleep(rand.N(time.Second)) // the moment of the kill is any within a second
			killed(t, child)
			took, n := vanish(t, b)
			longest, left = max(longest, took), left+n
			p := started(t, b)
			all, err := browserCookies(within(t, time.Minute), p)
			must(t, err)
			if slices.ContainsFunc(all, func(c *network.Cookie) bool { return c.Name == "__Host-session" }) {
				kept++
			}
			p.end(t.Context())
		}
	})
	t.Logf("%d kills: %d processes left, the last gone after %s; %d of %d sign-ins kept", starts+sessions, left,
		longest.Round(time.Millisecond), kept, sessions)
	if left > 0 || kept != sessions {
		t.Errorf("%d processes left, %d of %d sign-ins kept", left, kept, sessions)
	}
}

// TestKilledBrowser: what belongs to a browser that is killed goes with it.
func TestKilledBrowser(t *testing.T) {
	web := newSite(t)
	b := roomFor(t, web)
	child, sentences := connector(t, b, web)
	pid := 0
	for line := range sentences {
		if text, ok := strings.CutPrefix(line, "started "); ok {
			pid, _ = strconv.Atoi(text)
		}
		if line == "signed in" {
			break
		}
	}
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	killed(t, child)
	if _, left := vanish(t, b); left > 0 {
		t.Errorf("%d processes left", left)
	}
	started(t, b) // the lock that it left is no hindrance
}

// connector starts the victim and returns its output lines.
func connector(t *testing.T, b protocol.BrowserBinding, web *site) (*exec.Cmd, <-chan string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=victim")
	given, err := json.Marshal(map[string]any{"binding": b, "site": web.URL})
	must(t, err)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(given)), os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	said := make(chan string, 8)
	go func() {
		defer close(said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			said <- lines.Text()
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	return cmd, said
}

func killed(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

// vanish waits until no process of the browser is left, and returns how many are left after a minute.
func vanish(t *testing.T, b protocol.BrowserBinding) (took time.Duration, left int) {
	t.Helper()
	began := time.Now()
	for {
		all := processesOf(t, b)
		took = time.Since(began)
		if len(all) == 0 || took > time.Minute {
			for _, p := range all {
				t.Logf("left: %d %.200s", p.pid, strings.ReplaceAll(p.command, "\x00", " "))
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			}
			return took, len(all)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
