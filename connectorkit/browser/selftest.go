package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/pdpp-go/pdpp/protocol"
)

// selfTestPage is a document that needs no network.
const selfTestPage = "data:text/html,<title>pdpp</title><p>ready"

// SelfTest starts the program as a run would, with a throw-away profile and without network,
// loads a page, runs a script in it and ends it. Nothing of it stays.
func SelfTest(ctx context.Context, program string) (err error) {
	dir, err := os.MkdirTemp("", "pdpp-*") // short, for the sake of longestTemp
	if err != nil {
		return fmt.Errorf("make a throw-away profile: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := protocol.BrowserBinding{Program: program, Profile: filepath.Join(dir, "profile"),
		Home: filepath.Join(dir, "home")}
	if b.User, err = selfTestUser(); err != nil {
		return err
	}
	for _, d := range []string{dir, b.Profile, b.Home} {
		if err := ownFolder(d, b.User); err != nil {
			return fmt.Errorf("make a throw-away profile: %w", err)
		}
	}
	p, err := launch(ctx, b)
	if err != nil {
		return err
	}
	defer p.end(context.WithoutCancel(ctx))
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tabs, err := p.attachPages(limited, newDocumentGuard(nil, nil))
	if err != nil {
		return err
	}
	t, err := tabs.firstTab(limited)
	if err != nil {
		return err
	}
	if err := t.load(limited, selfTestPage); err != nil {
		return err
	}
	var text string
	if err := t.call(limited, `() => document.body.innerText`, &text); err != nil {
		return fmt.Errorf("run a script in a page: %w", err)
	}
	if text != "ready" {
		return errors.New("the browser did not show the page that it was given")
	}
	return nil
}

// selfTestUser returns the user that a browser runs as when this process is root.
func selfTestUser() (*protocol.BrowserUser, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	unprivileged, err := user.Lookup("nobody")
	if err != nil {
		return nil, errors.New("a browser does not run as root, and there is no user nobody to run it as")
	}
	uid, uidErr := strconv.ParseUint(unprivileged.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(unprivileged.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		return nil, errors.New("the user nobody has no number")
	}
	return &protocol.BrowserUser{UID: uint32(uid), GID: uint32(gid)}, nil
}

func ownFolder(dir string, u *protocol.BrowserUser) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if u == nil {
		return nil
	}
	return os.Chown(dir, int(u.UID), int(u.GID))
}
