package protocol

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// BrowserBinding is the descriptor of the binding "browser" in START: the browser that this run may start, and
// its folders. Everything that it names exists when the run starts. Its creator removes it after the run.
type BrowserBinding struct {
	// Program is the browser to start.
	Program string `json:"program"`
	// Profile is the folder of the browser's session. No other run uses it.
	Profile string `json:"profile"`
	// Home is the run's own folder: HOME of the browser, and the location of session.json, account and
	// downloads/. Its content and that of Profile persist between runs.
	Home string `json:"home"`
	// Display is an X display for a browser with a window; empty means none.
	Display string `json:"display,omitzero"`
	// SurfaceFD is the inherited file descriptor of the surface channel. Zero means none.
	SurfaceFD int `json:"surface_fd,omitzero"`
	// CaptureDir is the folder for diagnostics of the sign-in. Empty means none.
	CaptureDir string `json:"capture_dir,omitzero"`
	// Restored means that the profile existed before this run.
	Restored bool `json:"restored,omitzero"`
	// Account is the text that earlier runs wrote to Home/account. Empty means none.
	Account string `json:"account,omitzero"`
	// Hosts are the hosts that documents may be loaded from.
	Hosts []string `json:"hosts,omitempty"`
	// Local are host:port addresses on this machine that may be reached. Only tests set them.
	Local []string `json:"local,omitempty"`
	// NoSandbox starts the browser without its own sandbox, at the owner's request.
	NoSandbox bool `json:"no_sandbox,omitzero"`
	// User is the user that the browser runs as. Nil means the connector's own user.
	User *BrowserUser `json:"user,omitzero"`
}

// BrowserUser is a user of this machine.
type BrowserUser struct {
	UID uint32 `json:"uid"`
	GID uint32 `json:"gid"`
}

// ParseBrowserBinding parses the descriptor. It ignores unknown members.
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
