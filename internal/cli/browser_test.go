package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
)

// There is no browser whose life an owner manages: neither the help names such commands nor can
// one be given.
func TestNoBrowserDaemon(t *testing.T) {
	t.Attr("spec", "RT-03.1")
	daemon := regexp.MustCompile(`(?i)browser[ -](start|stop|status|restart|logs|bootstrap|probe|daemon)\b|\b(start|stop|restart|bootstrap|probe)[ -]browser\b`)
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		seen++
		if text := c.Short + "\n" + c.Long + "\n" + c.Example + "\n" + c.UsageString(); c.Name() == "browser" || daemon.MatchString(text) {
			t.Errorf("%s: %q", c.CommandPath(), daemon.FindString(text))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	if walk((&app{}).rootCommand()); seen < 60 {
		t.Errorf("only %d commands were looked at", seen)
	}
	for _, word := range []string{"start", "stop", "status", "restart", "logs", "bootstrap", "probe"} {
		env, out, errOut := testEnv(t, map[string]string{"HOME": t.TempDir()}, "browser", word)
		if exit := Main(env); exit != ExitUsage || out.Len() > 0 || errOut.Len() == 0 {
			t.Errorf("browser %s: exit %d, %s%s", word, exit, out, errOut)
		}
	}
}

// What is set for browsers reaches the profiles, and a mistake in it is said before anything
// is started.
func TestBrowserSettings(t *testing.T) {
	home := t.TempDir()
	settings := func(installed bool, vars map[string]string) (*app, error) {
		vars["PDPP_HOME"] = home
		env, _, _ := testEnv(t, vars)
		env.LookPath = func(program string) (string, error) {
			if installed && program == "chromium" {
				return "/usr/bin/chromium", nil
			}
			return "", errors.New("not found")
		}
		a := &app{env: env}
		_, err := a.browsers()
		return a, err
	}
	a, _ := settings(false, map[string]string{})
	if p, err := a.browsers(); p != nil || err != nil {
		t.Errorf("without a browser: %+v, %v", p, err)
	}
	a, _ = settings(true, map[string]string{})
	p, err := a.browsers()
	if err != nil || p.Program != "/usr/bin/chromium" || p.Root != filepath.Join(home, "profiles") || p.NoSandbox || len(p.Local) != 0 || (p.User == nil) != (os.Getuid() != 0) {
		t.Errorf("by default: %+v, %v", p, err)
	}
	if n, err := a.browserSlots(); err != nil || n < 1 || n > 4 {
		t.Errorf("slots: %d, %v", n, err)
	}
	a, _ = settings(true, map[string]string{envBrowserProfiles: "/srv/profiles", envBrowserNoSandbox: "1", envBrowserSlots: "7", envBrowserLocal: "127.0.0.1:1,127.0.0.1:2", "XDG_RUNTIME_DIR": "/run/user/7"})
	if p, err := a.browsers(); err != nil || p.Root != "/srv/profiles" || !p.NoSandbox || len(p.Local) != 2 || (p.Memory[0] == "/run/user/7") != (p.User == nil) {
		t.Errorf("as set: %+v, %v", p, err)
	}
	if n, err := a.browserSlots(); err != nil || n != 7 {
		t.Errorf("slots: %d, %v", n, err)
	}
	for _, bad := range []string{"0", "-1", "many", "1.5"} {
		a, _ = settings(true, map[string]string{envBrowserSlots: bad})
		if _, err := a.browserSlots(); err == nil {
			t.Errorf("%q browsers at once", bad)
		}
	}
	if _, err := settings(true, map[string]string{envBrowserUser: "no-such-user"}); (err == nil) != (os.Getuid() != 0) {
		t.Errorf("a user that is not there: %v", err)
	}
}
