package cli

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	envBrowserSlots     = "PDPP_BROWSER_SLOTS"
	envBrowserProfiles  = "PDPP_BROWSER_PROFILE_ROOT"
	envBrowserUser      = "PDPP_BROWSER_USER"
	envBrowserNoSandbox = "PDPP_BROWSER_NO_SANDBOX"
	// envBrowserLocal names addresses of this machine that browsers may reach: a site that the owner runs here,
	// or a simulated one.
	envBrowserLocal = "PDPP_BROWSER_LOCAL"

	// sharedMemory is where files are in memory on every Linux.
	sharedMemory = "/dev/shm"
)

// browsers are the browser profiles of this machine, without the store and the key that they
// are kept with; nil where there is no browser.
func (a *app) browsers() (*browser.Profiles, error) {
	name, ok := catalog.Browser(a.env.LookPath)
	if !ok {
		return nil, nil
	}
	program, err := a.env.LookPath(name)
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, configError("the browser "+name+" cannot be found: "+err.Error(), "Install it again: sudo apt install chromium.")
	}
	values := map[string]string{}
	for _, name := range []string{envBrowserProfiles, envBrowserUser, envBrowserNoSandbox, envBrowserLocal} {
		if values[name], _, err = a.variable(name); err != nil {
			return nil, err
		}
	}
	p := &browser.Profiles{Root: values[envBrowserProfiles], Program: program, NoSandbox: values[envBrowserNoSandbox] == "1", Now: a.env.Now}
	if p.Root == "" {
		home, err := a.homeDir()
		if err != nil {
			return nil, err
		}
		p.Root = filepath.Join(home, "profiles")
	}
	if p.Root, err = filepath.Abs(p.Root); err != nil {
		return nil, err
	}
	p.Captures = filepath.Join(filepath.Dir(p.Root), "runs")
	if p.User, err = browser.UserFor(values[envBrowserUser]); err != nil {
		return nil, configError(envBrowserUser+": "+err.Error(), "Name a user of this machine that browsers can run as.")
	}
	if values[envBrowserLocal] != "" {
		p.Local = strings.Split(values[envBrowserLocal], ",")
	}
	p.Memory = a.memoryFolders(p)
	return p, nil
}

// memoryFolders are where files of a profile can be in memory. The session's own is closed to
// another user.
func (a *app) memoryFolders(p *browser.Profiles) []string {
	if runtime, _ := a.env.Lookup("XDG_RUNTIME_DIR"); p.User == nil && filepath.IsAbs(runtime) {
		return []string{runtime, sharedMemory}
	}
	return []string{sharedMemory}
}

// browserSlots is how many browsers may be at work at once.
func (a *app) browserSlots() (int, error) {
	text, _, err := a.variable(envBrowserSlots)
	if err != nil {
		return 0, err
	}
	if text == "" {
		return browser.Slots(browser.Available()), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, configError(envBrowserSlots+" is not a number of browsers: "+strconv.Quote(text), "Use a whole number from 1 on.")
	}
	return n, nil
}

// giveBrowser lets a launcher open the browser profile of a connector that uses one. What it
// keeps is sealed by the key, which is made if there is none yet.
func (a *app) giveBrowser(l *launch.Launcher, st store.Store, m *manifest.Manifest) (err error) {
	if !m.UsesBrowser() {
		return nil
	}
	if l.Browsers, err = a.browsers(); err != nil || l.Browsers == nil {
		return err
	}
	key, err := a.credentialKey()
	if err != nil {
		return err
	}
	l.Browsers.Keeper, l.Browsers.Key, l.Secrets = st, key, launch.StoredSecrets(st, key)
	return nil
}
