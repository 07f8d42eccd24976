package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// TestUpgradeCheck reads a signed list of a release from a folder. A list that is not signed, and a place that cannot
// be reached, end with what to do, and nothing else is asked.
func TestUpgradeCheck(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "ssh-keygen", args...).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	key, sums := filepath.Join(dir, "key"), filepath.Join(dir, "SHA256SUMS")
	run("-q", "-t", "ed25519", "-N", "", "-f", key)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(sums, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("0a1b  pdpp_9.1.0_linux_amd64.tar.gz\n")
	run("-q", "-Y", "sign", "-f", key, "-n", "pdpp-release", sums)
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	check := func(from, key string) (int, string) {
		env, out, errOut := testEnvironment(t, map[string]string{"HOME": dir, "PDPP_RELEASES": from,
			"PDPP_RELEASES_KEY": key}, "upgrade", "--check")
		code := Main(env)
		return code, out.String() + errOut.String()
	}
	if code, text := check(dir, string(public)); code != failure.ExitOK ||
		!strings.Contains(text, "the newest release is v9.1.0") {
		t.Errorf("exit %d: %s", code, text)
	}
	for _, from := range []string{filepath.Join(dir, "nowhere"), "https://127.0.0.1:1", "http://127.0.0.1:1", "ftp://x"} {
		if code, text := check(from, string(public)); code != failure.ExitFailed ||
			!strings.Contains(text, "This program works without it.") {
			t.Errorf("%s: exit %d: %s", from, code, text)
		}
	}
	if code, text := check("", ""); code != failure.ExitUsage || !strings.Contains(text, "PDPP_RELEASES_KEY") {
		t.Errorf("without settings: exit %d: %s", code, text)
	}
	write("0a1b  pdpp_9.2.0_linux_amd64.tar.gz\n")
	if code, text := check(dir, string(public)); code != failure.ExitFailed ||
		!strings.Contains(text, "not signed by that key") || strings.Contains(text, "9.2.0") {
		t.Errorf("a changed list: exit %d: %s", code, text)
	}
}
