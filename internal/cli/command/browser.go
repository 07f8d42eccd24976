package command

import (
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	envBrowserSlots     = "PDPP_BROWSER_SLOTS"
	envBrowserProfiles  = "PDPP_BROWSER_PROFILE_ROOT"
	envBrowserUser      = "PDPP_BROWSER_USER"
	envBrowserNoSandbox = "PDPP_BROWSER_NO_SANDBOX"
	// envBrowserLocal lists addresses of this machine that browsers may reach: a site that the owner runs here, or a
	// simulated one.
	envBrowserLocal = "PDPP_BROWSER_LOCAL"

	// sharedMemory is a folder in memory that every Linux has.
	sharedMemory = "/dev/shm"
)

// BrowserProfiles returns the browser profiles of this machine, without their store and key. It returns nil when no
// browser is installed.
func (inv *Invocation) BrowserProfiles() (*browser.Profiles, error) {
	name, ok := catalog.FindBrowser(inv.Env.LookPath)
	if !ok {
		return nil, nil
	}
	program, err := inv.Env.LookPath(name)
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, failure.ConfigurationError("the browser "+name+" cannot be found: "+err.Error(),
			"Install it again: sudo apt install chromium.")
	}
	values := map[string]string{}
	for _, name := range []string{envBrowserProfiles, envBrowserUser, envBrowserNoSandbox, envBrowserLocal} {
		if values[name], _, err = inv.Variable(name); err != nil {
			return nil, err
		}
	}
	p := &browser.Profiles{Root: values[envBrowserProfiles], Program: program,
		NoSandbox: values[envBrowserNoSandbox] == "1", Now: inv.Env.Now}
	if p.Root == "" {
		home, err := inv.HomeFolder()
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
		return nil, failure.ConfigurationError(envBrowserUser+": "+err.Error(),
			"Name a user of this machine that browsers can run as.")
	}
	if values[envBrowserLocal] != "" {
		p.Local = strings.Split(values[envBrowserLocal], ",")
	}
	p.Memory = inv.memoryFolders(p)
	return p, nil
}

// memoryFolders returns folders in memory for files of a profile. Another user cannot use the folder of this session.
func (inv *Invocation) memoryFolders(p *browser.Profiles) []string {
	if runtime, _ := inv.Env.Lookup("XDG_RUNTIME_DIR"); p.User == nil && filepath.IsAbs(runtime) {
		return []string{runtime, sharedMemory}
	}
	return []string{sharedMemory}
}

// BrowserSlots returns how many browsers may run at once.
func (inv *Invocation) BrowserSlots() (int, error) {
	text, _, err := inv.Variable(envBrowserSlots)
	if err != nil {
		return 0, err
	}
	if text == "" {
		return browser.Slots(browser.Available()), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, failure.ConfigurationError(envBrowserSlots+" is not a number of browsers: "+strconv.Quote(text),
			"Use a whole number from 1 on.")
	}
	return n, nil
}

// AttachBrowser configures a launcher for a connector that uses a browser. The key that seals the profile is created if
// necessary.
func (inv *Invocation) AttachBrowser(l *launch.Launcher, st store.Store, m *manifest.Manifest) (err error) {
	if !m.UsesBrowser() {
		return nil
	}
	if l.Browsers, err = inv.BrowserProfiles(); err != nil || l.Browsers == nil {
		return err
	}
	key, err := inv.CredentialKey()
	if err != nil {
		return err
	}
	l.Browsers.Keeper, l.Browsers.Key, l.Secrets = st, key, launch.StoredSecrets(st, key)
	return nil
}

// OfferedBindings are the bindings that PDPP provides to connectors. The launcher adds the interactive binding when
// questions can be answered.
var OfferedBindings = map[string]jsontext.Value{
	string(manifest.BindingNetwork):    jsontext.Value("{}"),
	string(manifest.BindingFilesystem): jsontext.Value("{}"),
	string(manifest.BindingBrowser):    jsontext.Value("{}"),
}

// AvailableBindings returns the bindings of this machine: the browser only if one is installed.
func (inv *Invocation) AvailableBindings() map[string]jsontext.Value {
	out := maps.Clone(OfferedBindings)
	if _, ok := catalog.FindBrowser(inv.Env.LookPath); !ok {
		delete(out, string(manifest.BindingBrowser))
	}
	return out
}
