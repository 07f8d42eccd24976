package command

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Settings for browsers reach the profiles, and a mistake is reported before anything starts.
func TestBrowserSettings(t *testing.T) {
	home := t.TempDir()
	settings := func(installed bool, vars map[string]string) (*Invocation, error) {
		vars["PDPP_HOME"] = home
		env := testEnvironment(t, vars)
		env.LookPath = func(program string) (string, error) {
			if installed && program == "chromium" {
				return "/usr/bin/chromium", nil
			}
			return "", errors.New("not found")
		}
		inv := &Invocation{Env: env}
		_, err := inv.BrowserProfiles()
		return inv, err
	}
	inv, _ := settings(false, map[string]string{})
	if p, err := inv.BrowserProfiles(); p != nil || err != nil {
		t.Errorf("without a browser: %+v, %v", p, err)
	}
	inv, _ = settings(true, map[string]string{})
	p, err := inv.BrowserProfiles()
	if err != nil || p.Program != "/usr/bin/chromium" || p.Root != filepath.Join(home, "profiles") || p.NoSandbox ||
		len(p.Local) != 0 || (p.User == nil) != (os.Getuid() != 0) {
		t.Errorf("by default: %+v, %v", p, err)
	}
	if n, err := inv.BrowserSlots(); err != nil || n < 1 || n > 4 {
		t.Errorf("slots: %d, %v", n, err)
	}
	inv, _ = settings(true, map[string]string{envBrowserProfiles: "/srv/profiles", envBrowserNoSandbox: "1",
		envBrowserSlots: "7", envBrowserLocal: "127.0.0.1:1,127.0.0.1:2", "XDG_RUNTIME_DIR": "/run/user/7"})
	if p, err := inv.BrowserProfiles(); err != nil || p.Root != "/srv/profiles" || !p.NoSandbox || len(p.Local) != 2 ||
		(p.Memory[0] == "/run/user/7") != (p.User == nil) {
		t.Errorf("as set: %+v, %v", p, err)
	}
	if n, err := inv.BrowserSlots(); err != nil || n != 7 {
		t.Errorf("slots: %d, %v", n, err)
	}
	for _, bad := range []string{"0", "-1", "many", "1.5"} {
		inv, _ = settings(true, map[string]string{envBrowserSlots: bad})
		if _, err := inv.BrowserSlots(); err == nil {
			t.Errorf("%q browsers at once", bad)
		}
	}
	if _, err := settings(true, map[string]string{envBrowserUser: "no-such-user"}); (err == nil) != (os.Getuid() != 0) {
		t.Errorf("a user that is not there: %v", err)
	}
}
