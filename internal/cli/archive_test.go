package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// An owner leaves with everything, and finds out when a byte of it has changed.
func TestArchiveIsVerified(t *testing.T) {
	s := newStatusShop(t)
	run := func(args ...string) (int, string, string) {
		env, out, errOut := testEnvironment(t, map[string]string{"HOME": t.TempDir(), "PDPP_HOME": s.home}, args...)
		return Main(env), out.String(), errOut.String()
	}
	place := filepath.Join(t.TempDir(), "all")
	code, out, errOut := run("archive", place)
	if code != failure.ExitOK || !strings.Contains(out, "\nIts key: pdpp+") {
		t.Fatalf("exit %d: %s%s", code, out, errOut)
	}
	key := strings.TrimSpace(out[strings.Index(out, "pdpp+"):])
	if code, out, errOut := run("verify", place, "--key", key); code != failure.ExitOK ||
		!strings.Contains(out, "whole and unchanged") {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
	if code, _, errOut := run("archive", place); code != failure.ExitFailed ||
		!strings.Contains(errOut, "exists already") {
		t.Errorf("exit %d: %s", code, errOut)
	}
	page := filepath.Join(place, "index.html")
	body, err := os.ReadFile(page)
	s.must(err)
	body[len(body)/2] ^= 1
	s.must(os.WriteFile(page, body, 0o600))
	if code, out, _ := run("verify", place); code != failure.ExitFailed ||
		out != "\"index.html\" has changed\n" {
		t.Errorf("exit %d: %s", code, out)
	}
}
