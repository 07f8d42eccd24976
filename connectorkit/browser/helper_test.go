package browser

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pdpp/protocol"
)

// program is the browser that the tests drive.
func program(t testing.TB) string {
	t.Helper()
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
	b := protocol.BrowserBinding{Program: program(t), Profile: filepath.Join(dir, "profile"), Home: filepath.Join(dir, "home")}
	for _, d := range []string{b.Profile, b.Home} {
		must(t, os.Mkdir(d, 0o700))
	}
	if os.Geteuid() != 0 {
		return b
	}
	nobody, err := user.Lookup("nobody")
	must(t, err)
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	must(t, err)
	b.User = &protocol.BrowserUser{UID: uint32(uid), GID: uint32(gid)}
	for _, d := range []string{b.Profile, b.Home} {
		must(t, os.Chown(d, int(uid), int(gid)))
	}
	return b
}

// started is a browser for the test alone.
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
