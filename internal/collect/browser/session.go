package browser

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// ProfileSession is an open profile, for one run.
type ProfileSession struct {
	profiles *Profiles
	folder   *profileFolder
	name     string
	lease    store.Lease
	manifest *manifest.Manifest

	room       string
	generation int64
	account    string
	restored   bool
}

// Binding returns the binding for the connector. surfaceFD is the inherited file that leads to the viewer; zero means
// no viewer.
func (s *ProfileSession) Binding(surfaceFD int) protocol.BrowserBinding {
	b := protocol.BrowserBinding{
		Program: s.profiles.Program, Profile: filepath.Join(s.room, profileDir), Home: filepath.Join(s.room, homeDir),
		SurfaceFD: surfaceFD, Restored: s.restored, Account: s.account, Local: s.profiles.Local,
		NoSandbox: s.profiles.NoSandbox,
	}
	if s.profiles.Captures != "" {
		b.CaptureDir = filepath.Join(s.room, capturesDir)
	}
	if s.manifest.Browser != nil {
		b.Hosts = s.manifest.Browser.Hosts
	}
	return b
}

// settings are where browsers find what the system's owner has set, and caches of fonts.
var settings = []string{"/etc/chromium.d", "/etc/chromium", "/etc/chromium-browser", "/etc/opt/chrome",
	"/var/cache/fontconfig", "/etc/machine-id", "/var/lib/dbus/machine-id"}

// Prepare makes the command of the connector one that can start the browser: in a working
// directory and as a user that Chromium can be started by, confined to what it needs. The
// browser's sandbox makes namespaces of its own, for which a process writes to its own files in
// /proc; what belongs to processes outside stays closed, since the confined may not look into
// them.
func (s *ProfileSession) Prepare(cmd *childprocess.Command) {
	cmd.Dir, cmd.User = filepath.Join(s.room, workDir), s.profiles.User
	l := &cmd.Limits
	l.Write = append(l.Write, s.room)
	l.Execute = append(l.Execute, programFolder(s.profiles.Program)...)
	l.Read = append(append(l.Read, settings...), "/proc")
	l.Sandbox = !s.profiles.NoSandbox
}

// programFolder is where a browser lies that is not one of the system's own folders, with the
// files beside it.
func programFolder(program string) []string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return nil
	}
	return []string{real, filepath.Dir(real)}
}

// Kept is what became of a profile at the end of its run.
type Kept struct {
	Bytes   int64 // of its files
	Trimmed bool  // it was too large, so that only the sign-in is kept
}

// End waits until the browser is gone, seals the profile, stores it under the lease of the run and removes the files.
// A run that lost its lease stores nothing, because the new holder has a newer session. When the store cannot be
// reached, the files stay for the next start.
func (s *ProfileSession) End(ctx context.Context) (kept Kept, err error) {
	defer func() { err = errors.Join(err, s.folder.unlock()) }()
	return s.sealAndStore(func(p store.BrowserProfile) error {
		return s.profiles.Keeper.SaveBrowserProfile(ctx, s.lease, p, s.profiles.now())
	})
}

// sealAndStore seals the folder and passes the row to put. It removes the files unless another attempt could succeed.
func (s *ProfileSession) sealAndStore(put func(store.BrowserProfile) error) (Kept, error) {
	if err := s.profiles.awaitUnused(s.room); err != nil {
		return Kept{}, err
	}
	whole, err := packProfile(s.room)
	if err != nil {
		return Kept{}, err
	}
	_ = s.profiles.saveCaptures(s.room, s.lease.RunID) // diagnostics are worth no failure
	if whole.files == 0 && s.generation == 0 {         // no browser was started
		s.discard()
		return Kept{}, nil
	}
	row := store.BrowserProfile{
		ConnectionID: s.lease.ConnectionID, Name: s.name, Generation: s.generation, AccountMAC: whole.account,
		Bytes:  whole.bytes,
		Sealed: s.profiles.Key.Seal(sealPlace(s.name), whole.plain),
	}
	err = put(row)
	if err != nil && !isOutdated(err) {
		return Kept{}, fmt.Errorf("keep the browser profile: %w", err)
	}
	s.discard()
	if err != nil {
		return Kept{}, fmt.Errorf("keep the browser profile: %w", err)
	}
	return Kept{Bytes: whole.bytes, Trimmed: whole.trimmed}, nil
}

// isOutdated reports whether the store's error means that the files are outdated.
func isOutdated(err error) bool {
	return errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrNotFound)
}

// discard removes the files. What cannot be removed is tried again at the next start.
func (s *ProfileSession) discard() { _ = s.folder.clear() }
