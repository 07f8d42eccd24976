package protocol

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// BrowserBinding is the descriptor of the binding "browser" in START: the browser that
// this run may start, and where it keeps what it must keep. Everything that it names is
// there when the run begins, and is taken away by whoever made it after the run.
type BrowserBinding struct {
	// Program is the browser to start.
	Program string `json:"program"`
	// Profile is the folder in which the browser keeps its session. No other run has it open.
	Profile string `json:"profile"`
	// Home is the run's own folder: HOME of the browser, and the place of session.json,
	// account and downloads/. What is in it and in Profile is kept from run to run.
	Home string `json:"home"`
	// Display is an X display for a browser with a window; empty means none.
	Display string `json:"display,omitzero"`
	// SurfaceFD is the inherited file of the surface channel; zero means that there is none.
	SurfaceFD int `json:"surface_fd,omitzero"`
	// CaptureDir is where diagnostics of the sign-in go; empty means that there are none.
	CaptureDir string `json:"capture_dir,omitzero"`
	// Restored says that the profile was there before this run.
	Restored bool `json:"restored,omitzero"`
	// Account is what earlier runs wrote to Home/account; empty means none.
	Account string `json:"account,omitzero"`
	// Hosts are those that documents may be loaded from.
	Hosts []string `json:"hosts,omitempty"`
	// Local are places host:port on this machine that may be reached, for tests alone.
	Local []string `json:"local,omitempty"`
	// NoSandbox is the owner's wish to start the browser without its own sandbox.
	NoSandbox bool `json:"no_sandbox,omitzero"`
	// User is whom the browser runs as; nil means the connector's own user.
	User *BrowserUser `json:"user,omitzero"`
}

// BrowserUser is a user of this machine.
type BrowserUser struct {
	UID uint32 `json:"uid"`
	GID uint32 `json:"gid"`
}

// ParseBrowserBinding reads the descriptor. Members that it does not know are ignored.
func ParseBrowserBinding(v jsontext.Value) (BrowserBinding, error) {
	var b BrowserBinding
	if err := json.Unmarshal(v, &b); err != nil {
		return BrowserBinding{}, fmt.Errorf("read the browser binding: %w", err)
	}
	for name, p := range map[string]string{"program": b.Program, "profile": b.Profile, "home": b.Home} {
		if !path.IsAbs(p) {
			return BrowserBinding{}, fmt.Errorf("read the browser binding: %s: an absolute path", name)
		}
	}
	if b.CaptureDir != "" && !path.IsAbs(b.CaptureDir) {
		return BrowserBinding{}, errors.New("read the browser binding: capture_dir: an absolute path")
	}
	if b.SurfaceFD != 0 && b.SurfaceFD < 3 {
		return BrowserBinding{}, errors.New("read the browser binding: surface_fd: an inherited file, not a standard one")
	}
	for _, host := range b.Hosts {
		if host == "" || strings.ContainsAny(host, "/:@ ") {
			return BrowserBinding{}, errors.New("read the browser binding: hosts: bare host names")
		}
	}
	for _, place := range b.Local {
		if i := strings.LastIndexByte(place, ':'); i < 1 || i == len(place)-1 {
			return BrowserBinding{}, errors.New("read the browser binding: local: host:port")
		}
	}
	return b, nil
}
