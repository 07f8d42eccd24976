package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/foreign/confine"
	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/manifest"
	paths "github.com/pdpp-go/pdpp/manifest/folder"
)

// tryWithin bounds the attempt: a browser on a busy machine takes a few seconds.
const tryWithin = 60 * time.Second

// Try makes the connector host start the browser with a temporary profile, load a page and end it, confined and as the
// user of a run. It returns the host's output.
func (p *Profiles) Try(ctx context.Context, host string) (message string, err error) {
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
	s := &ProfileSession{profiles: p, folder: f, manifest: &manifest.Manifest{}}
	defer func() { err = errors.Join(err, p.awaitUnused(s.room), f.clear(), f.unlock()) }()
	if err := s.makeRoom(); err != nil {
		return "", err
	}
	cmd := childprocess.Command{
		Path: host, Args: []string{"selftest", p.Program}, Limits: confine.Limits{Program: host},
		// the paths below stay short
		Env: []string{"PATH=" + paths.SearchPath, "HOME=" + filepath.Join(s.room, homeDir), "TMPDIR=" + s.room},
	}
	s.Prepare(&cmd)
	return childprocess.Call(ctx, cmd)
}
