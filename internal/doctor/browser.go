package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

const installBrowser = "sudo apt install chromium"

// checkBrowser tries the browser, if a connection needs one, and looks at what could make it fail
// later or less safe than it should be.
func (x *checkup) checkBrowser(ctx context.Context) {
	waiting := x.needBrowser()
	if len(waiting) == 0 {
		return
	}
	program, ok := catalog.FindBrowser(x.LookPath)
	if !ok {
		x.reportFailure(CheckBrowser, fmt.Sprintf("%s (%s), and there is none on this machine",
			formatCount(len(waiting), "connection needs a browser", "connections need a browser"), strings.Join(waiting, ", ")),
			installBrowser)
		return
	}
	if x.Browsers == nil {
		x.reportGood(CheckBrowser, "there is a browser: "+program)
		return
	}
	x.tryBrowser(ctx, program)
	if x.Browsers.NoSandbox {
		x.reportWarning(CheckBrowser,
			"browsers run without their sandbox: a page that breaks out of one has the rights of its user",
			"Unset PDPP_BROWSER_NO_SANDBOX.")
	}
	if browser.InMemory(x.Browsers.Memory) == "" {
		x.reportWarning(CheckBrowser,
			"the files of a browser are on the disk while a run goes on: there is no room for them in memory",
			"Give /dev/shm at least 256 MiB (in a container: --shm-size=512m).")
	}
	if first := x.FirstProcess(); strings.HasPrefix(first, "pdpp") {
		x.reportWarning(CheckBrowser,
			"this container has no init: processes of a browser that has ended stay in the table of processes",
			"Start the container with an init (docker run --init).")
	}
}

// tryBrowser starts it as a run would. One that is to run without its sandbox is not tried:
// what is looked for is whether the sandbox works.
func (x *checkup) tryBrowser(ctx context.Context, program string) {
	if x.TryBrowser == nil || x.Browsers.NoSandbox {
		x.reportGood(CheckBrowser, "there is a browser: "+program)
		return
	}
	if err := x.TryBrowser(ctx); err != nil {
		x.reportFailure(CheckBrowser, "the browser "+program+" cannot be used: "+errorLine(err), fixBrowser(err))
		return
	}
	x.reportGood(CheckBrowser, "the browser works: "+program)
}

// needBrowser names the active connections that cannot run without a browser.
func (x *checkup) needBrowser() (ids []string) {
	for _, c := range x.connections {
		connector, ok := x.installed[c.ConnectorID]
		if ok && c.Status == store.ConnectionActive &&
			slices.Contains(connector.Manifest.RequiredBindings(), manifest.BindingBrowser) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// fixBrowser is what helps against the causes that are known.
func fixBrowser(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "the browser is too old"):
		return "Install a newer one: " + installBrowser
	case strings.Contains(text, "No usable sandbox"), strings.Contains(text, "Operation not permitted"):
		return "Let the browser make user namespaces: sysctl kernel.unprivileged_userns_clone=1, or in a container a " +
			"seccomp profile that allows them."
	default:
		return "Install it again (" + installBrowser + "), and see what it says: pdpp-connectors selftest chromium"
	}
}

// firstProcess is the name of process 1.
func firstProcess() string {
	name, _ := os.ReadFile("/proc/1/comm") // a system without it has an init
	return strings.TrimSpace(string(name))
}
