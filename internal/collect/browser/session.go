package browser

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Session is an open profile, for one run.
type Session struct {
	profiles *Profiles
	folder   *folder
	name     string
	lease    store.Lease
	manifest *manifest.Manifest

	room       string
	generation int64
	account    string
	restored   bool
}

// Binding is what the connector is told. SurfaceFD is the number of the inherited file that
// leads to whoever looks on; zero for nobody.
func (s *Session) Binding(surfaceFD int) protocol.BrowserBinding {
	b := protocol.BrowserBinding{
		Program: s.profiles.Program, Profile: filepath.Join(s.room, profileDir), Home: filepath.Join(s.room, homeDir),
		SurfaceFD: surfaceFD, Restored: s.restored, Account: s.account, Local: s.profiles.Local, NoSandbox: s.profiles.NoSandbox,
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
var settings = []string{"/etc/chromium.d", "/etc/chromium", "/etc/chromium-browser", "/etc/opt/chrome", "/var/cache/fontconfig", "/etc/machine-id", "/var/lib/dbus/machine-id"}

// Prepare makes the command of the connector one that can start the browser: in a working
// directory and as a user that Chromium can be started by, confined to what it needs. The
// browser's sandbox makes namespaces of its own, for which a process writes to its own files in
// /proc; what belongs to processes outside stays closed, since the confined may not look into
// them.
func (s *Session) Prepare(cmd *runner.Command) {
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
	Trimmed bool  // it was larger than is kept: the sign-in alone is
}

// End waits until the browser is gone, seals the profile, keeps it under the lease of the run
// and removes the files. A run that lost its lease keeps nothing: whoever took over has a newer
// session. Where the store cannot be reached the files stay for the next start.
func (s *Session) End(ctx context.Context) (kept Kept, err error) {
	defer func() { err = errors.Join(err, s.folder.unlock()) }()
	return s.keep(func(p store.BrowserProfile) error {
		return s.profiles.Keeper.KeepBrowserProfile(ctx, s.lease, p, s.profiles.now())
	})
}

// keep seals the room and gives the row to put. The files are removed unless they are worth
// another attempt.
func (s *Session) keep(put func(store.BrowserProfile) error) (Kept, error) {
	if err := s.profiles.vacate(s.room); err != nil {
		return Kept{}, err
	}
	whole, err := pack(s.room)
	if err != nil {
		return Kept{}, err
	}
	_ = s.profiles.saveCaptures(s.room, s.lease.RunID) // diagnostics are worth no failure
	if whole.files == 0 && s.generation == 0 {         // no browser was started
		s.discard()
		return Kept{}, nil
	}
	row := store.BrowserProfile{
		ConnectionID: s.lease.ConnectionID, Name: s.name, Generation: s.generation, AccountMAC: whole.account, Bytes: whole.bytes,
		Sealed: s.profiles.Key.Seal(place(s.name), whole.plain),
	}
	err = put(row)
	if err != nil && !overtaken(err) {
		return Kept{}, fmt.Errorf("keep the browser profile: %w", err)
	}
	s.discard()
	if err != nil {
		return Kept{}, fmt.Errorf("keep the browser profile: %w", err)
	}
	return Kept{Bytes: whole.bytes, Trimmed: whole.trimmed}, nil
}

// overtaken reports whether the store has said that the files are of no use any more.
func overtaken(err error) bool {
	return errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrNotFound)
}

// discard removes the files. What cannot be removed is tried again at the next start.
func (s *Session) discard() { _ = s.folder.clear() }
