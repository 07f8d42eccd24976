package browser

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// program is the browser that the tests drive.
func program(t testing.TB) string {
	t.Helper()
	if set := os.Getenv("PDPP_TEST_CHROMIUM"); set != "" {
		return set
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("these tests drive a real browser: %v", err)
	}
	return path
}

// room makes what a worker makes before a run: a folder for the profile and one for the run.
func room(t testing.TB) protocol.BrowserBinding {
	t.Helper()
	dir, err := os.MkdirTemp("", "room-*")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, os.Chmod(dir, 0o755)) // the browser's user passes through
	b := protocol.BrowserBinding{Program: program(t), Profile: filepath.Join(dir, "profile"),
		Home: filepath.Join(dir, "home")}
	for _, d := range []string{b.Profile, b.Home} {
		must(t, os.Mkdir(d, 0o700))
	}
	if os.Geteuid() != 0 {
		return b
	}
	unprivileged, err := user.Lookup("nobody")
	must(t, err)
	uid, err := strconv.ParseUint(unprivileged.Uid, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(unprivileged.Gid, 10, 32)
	must(t, err)
	b.User = &protocol.BrowserUser{UID: uint32(uid), GID: uint32(gid)}
	for _, d := range []string{b.Profile, b.Home} {
		must(t, os.Chown(d, int(uid), int(gid)))
	}
	return b
}

// started returns a browser that no other test uses.
func started(t testing.TB, b protocol.BrowserBinding) *process {
	t.Helper()
	p, err := launch(t.Context(), b)
	must(t, err)
	t.Cleanup(func() { p.end(context.Background()) })
	return p
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// until waits for something that has no event of its own.
func until(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// untilAt waits until the tab shows a path.
func (t *tab) untilAt(ctx context.Context, path string) error {
	for {
		if at, err := t.address(ctx); err == nil && at.Path == path {
			return nil
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lent is one browser for the tests that leave it as they found it, and the site that it
// is on. Starting one costs most of a second of both cores.
type lent struct {
	*Browser
	web *site
	log *safeBuffer
}

var (
	sharing sync.Mutex
	common  *lent
	closing []func()
)

// lend lends the shared browser, with its transport on the empty document, to one test at a time.
func lend(t *testing.T) *lent {
	t.Helper()
	sharing.Lock()
	t.Cleanup(sharing.Unlock)
	if common == nil {
		common = newLent(t)
	}
	return common
}

// outlives is a testing.TB with clean-ups that run at the end of the package.
type outlives struct{ testing.TB }

func (outlives) Cleanup(f func())         { closing = append(closing, f) }
func (outlives) Context() context.Context { return context.Background() }

func newLent(t *testing.T) *lent {
	t.Helper()
	keep := outlives{t}
	web := newSite(keep)
	binding := roomFor(keep, web)
	p := started(keep, binding)
	log := &safeBuffer{}
	b := &Browser{binding: binding, site: web.known(), log: slog.New(slog.NewTextHandler(log, nil)), process: p}
	b.page = &Page{b: b, checkpoint: func(context.Context, string) {}}
	b.sender = governhttp.NewSender(governor.New("site", func(c *governor.Config) { c.Discovery, c.Ceiling = 0, 0 }),
		governhttp.SenderOptions{})
	b.guard = newDocumentGuard(binding.Hosts, binding.Local)
	ctx := within(t, time.Minute)
	var err error
	b.tabs, err = p.attachPages(ctx, b.guard)
	must(t, err)
	first, err := b.tabs.firstTab(ctx)
	must(t, err)
	b.pages, err = newPageTransport(b.site, first, b.tabs.openTab)
	must(t, err)
	b.client, err = governhttp.New(governhttp.Options{BaseURL: web.URL, Transport: b.Transport(), Sender: b.sender})
	must(t, err)
	return &lent{Browser: b, web: web, log: log}
}

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		victim()
	}
	code := m.Run()
	for _, f := range slices.Backward(closing) {
		f()
	}
	os.Exit(code)
}
