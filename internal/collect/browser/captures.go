package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

const (
	capturesDir = "captures" // in a room
	// keepCaptures is how long what connectors noted of a sign-in is kept.
	keepCaptures = 7 * 24 * time.Hour
	// maxCaptures and maxCapture bound what is kept of one run.
	maxCaptures = 100
	maxCapture  = 4 << 20
)

var captureName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,150}$`)
})

// saveCaptures keeps the connector's sign-in diagnostics for the person who fixes it. The connector removes those that
// are not needed.
func (p *Profiles) saveCaptures(room, runID string) error {
	if p.Captures == "" || !profileName().MatchString(runID) {
		return nil
	}
	root, err := os.OpenRoot(filepath.Join(room, capturesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep the captures: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("keep the captures: %w", err)
	}
	to, kept := filepath.Join(p.Captures, runID), 0
	for _, e := range entries {
		if !captureName().MatchString(e.Name()) || !e.Type().IsRegular() || kept == maxCaptures {
			continue
		}
		text, err := readFile(root, e.Name(), nil)
		if err != nil || len(text) > maxCapture {
			continue // diagnostics are worth no failure
		}
		if err := errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, e.Name()), text, 0o600)); err != nil {
			return fmt.Errorf("keep the captures: %w", err)
		}
		kept++
	}
	return p.pruneCaptures()
}

// pruneCaptures forgets those of old runs.
func (p *Profiles) pruneCaptures() error {
	runs, err := os.ReadDir(p.Captures)
	if p.Captures == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("forget old captures: %w", err)
	}
	for _, run := range runs {
		info, infoErr := run.Info()
		if infoErr == nil && run.IsDir() && p.now().Sub(info.ModTime()) > keepCaptures {
			err = errors.Join(err, os.RemoveAll(filepath.Join(p.Captures, run.Name())))
		}
	}
	return err
}
