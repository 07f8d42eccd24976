package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/foreign/confine"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/manifest"
	paths "github.com/pdpp-go/pdpp/manifest/folder"
)

// tryWithin bounds the attempt: a browser on a busy machine takes a few seconds.
const tryWithin = 60 * time.Second

// Try lets the host of the connectors start the browser with a throw-away profile, load a page
// and end it, confined and as the user that a run would have. It gives what the host says.
func (p *Profiles) Try(ctx context.Context, host string) (said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	dir, err := os.MkdirTemp("", "pdpp-try-")
	if err != nil {
		return "", fmt.Errorf("try the browser: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, err := lockFolder(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("try the browser: %w", err)
	}
	s := &Session{profiles: p, folder: f, manifest: &manifest.Manifest{}}
	defer func() { err = errors.Join(err, p.vacate(s.room), f.clear(), f.unlock()) }()
	if err := s.makeRoom(); err != nil {
		return "", err
	}
	cmd := runner.Command{
		Path: host, Args: []string{"selftest", p.Program}, Limits: confine.Limits{Program: host},
		Env: []string{"PATH=" + paths.SearchPath, "HOME=" + filepath.Join(s.room, homeDir), "TMPDIR=" + s.room}, // the paths below stay short
	}
	s.Prepare(&cmd)
	return runner.Call(ctx, cmd)
}
