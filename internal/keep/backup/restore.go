package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

// RestoreOptions say what to put back and where.
type RestoreOptions struct {
	File  string
	Home  string
	Force bool // move a home that has data aside
	Keys  Keys
	// KeepAccess leaves every way in as it was. Otherwise sessions, owner tokens, grants, devices, passkeys,
	// recovery codes and push targets end: one that was taken back after the backup would be open again.
	KeepAccess bool
	Now        time.Time
	Observe    Observer
}

// Restored tells of a home that was put back.
type Restored struct {
	Home string `json:"home"`
	// Aside is where the old home is now; empty when there was none.
	Aside string `json:"moved_aside,omitempty"`
	// Ended is how many ways in were ended, beside sessions, and EndedList which.
	Ended     int     `json:"access_ended"`
	EndedList []Ended `json:"ended"`
	// Connectors are the foreign ones that came along. None runs before the owner has
	// confirmed it.
	Connectors []string `json:"connectors"`
	Header
}

// Restore makes a home of an archive. The archive is unpacked and checked beside the
// home, and takes its place in one step at the end: whoever kills it finds either the
// old home or the new one. A home that has data is refused, or moved aside.
func Restore(ctx context.Context, o RestoreOptions) (done Restored, err error) {
	if o.Home, err = target(o.Home); err != nil {
		return done, err
	}
	if err := o.mayReplace(ctx); err != nil {
		return done, err
	}
	identities, err := o.Keys.identities()
	if err != nil {
		return done, err
	}
	f, err := os.Open(o.File)
	if err != nil {
		return done, &fault.Fault{Code: "not_found", Message: "the backup cannot be read: " + cause(err), Next: "Check the path of the file.", Err: err}
	}
	defer f.Close()
	staged, err := newStaging(o.Home)
	if err != nil {
		return done, err
	}
	placed := false
	defer func() {
		if !placed {
			err = errors.Join(err, staged.discard())
		}
	}()
	staged.tell = o.Observe
	header, err := readArchive(ctx, f, o.Keys.Plain, identities, staged, staged.progress)
	if err != nil {
		return done, err
	}
	if done.EndedList, err = o.accept(ctx, staged, header); err != nil {
		return done, err
	}
	done.Ended = len(done.EndedList)
	placed = true
	done.Home, done.Header, done.Connectors = o.Home, header, staged.connectors
	done.Aside, err = o.replace(ctx, staged)
	return done, err
}

// target is the home as the file system knows it.
func target(home string) (string, error) {
	path, err := filepath.Abs(home)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	return path, nil
}

// mayReplace refuses a home that is in use, and without Force one that has data.
func (o RestoreOptions) mayReplace(ctx context.Context) error {
	info, err := os.Stat(o.Home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.IsDir() {
		return &fault.Fault{Code: CodePlace, Message: o.Home + " is not a folder", Next: "Name another one with --to.", Err: err}
	}
	for _, name := range []string{databaseFile, credential.KeyFile} {
		if _, err := os.Lstat(filepath.Join(o.Home, name)); err == nil && !o.Force {
			return &fault.Fault{Code: CodeHomeFull, Message: o.Home + " has data already", Next: "Name another folder with --to, or move the old one aside with --force."}
		}
	}
	return o.unused(ctx)
}

// unused refuses a home that another process is using.
func (o RestoreOptions) unused(ctx context.Context) error {
	path := filepath.Join(o.Home, databaseFile)
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	busy, err := inUse(ctx, path)
	if err == nil && busy {
		err = &fault.Fault{Code: CodeHomeInUse, Message: "a server or another command is using " + o.Home, Next: "Stop it (pdpp serve), then restore again. Nothing was changed."}
	}
	return err
}

// accept checks the unpacked database as strictly as the copy was checked, brings its schema
// up to date, and ends what must not be open again.
func (o RestoreOptions) accept(ctx context.Context, s *staging, h Header) (ended []Ended, err error) {
	path := filepath.Join(s.dir, databaseFile)
	o.Observe.tell(StepCheck, 0, h.Database)
	_, counts, err := inspect(ctx, path)
	if err != nil {
		return nil, err
	}
	if counts != h.Counts {
		return nil, &fault.Fault{Code: CodeDamaged, Message: "the backup does not hold what it says",
			Next: "Use another copy of it. Nothing was changed."}
	}
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	var unusable *store.FaultError
	switch {
	case err == nil:
	case errors.As(err, &unusable) && unusable.Fault == store.FaultTooOld:
		return nil, &fault.Fault{Code: CodeOlder, Message: "the backup was made by an earlier PDPP (" + h.Program + ")",
			Next: "Restore it with that program, and export the records there (pdpp export). Nothing was changed.", Err: err}
	case errors.As(err, &unusable) && unusable.Fault == store.FaultTooNew:
		return nil, &fault.Fault{Code: CodeNewer, Message: "the backup was made by a newer PDPP (" + h.Program + ")",
			Next: "Upgrade this program, then restore. Nothing was changed.", Err: err}
	default:
		return nil, fmt.Errorf("open the restored database: %w", err)
	}
	// Whoever made the archive may have confirmed what is in it.
	err = st.DropConfirmations(ctx)
	if err == nil && !o.KeepAccess {
		ended, err = endAccess(ctx, st, o.Now)
	}
	if err := errors.Join(err, st.Close()); err != nil {
		return ended, fmt.Errorf("prepare the restored database: %w", err)
	}
	return ended, s.sync()
}

// replace puts the staged folder in the place of the home. From its first step on
// nothing is undone.
func (o RestoreOptions) replace(ctx context.Context, s *staging) (aside string, err error) {
	if err := o.unused(ctx); err != nil { // somebody may have begun since
		return "", errors.Join(err, s.discard())
	}
	o.Observe.tell(StepReplace, 0, 0)
	swapped, err := swap(s.dir, o.Home)
	if err != nil {
		return "", errors.Join(misplaced(o.Home, err), s.discard())
	}
	if err := syncFolder(filepath.Dir(o.Home)); err != nil {
		return "", err
	}
	if swapped {
		o.Observe.tell(StepAside, 0, 0)
		aside = o.Home + asideSuffix + o.Now.UTC().Format(asideTimeFormat)
		if err := os.Rename(s.dir, aside); err != nil {
			aside = s.dir // it keeps its name, and everything in it
		}
	}
	return aside, os.Remove(filepath.Join(o.Home, inProgressFile))
}

func misplaced(home string, err error) *fault.Fault {
	return &fault.Fault{Code: CodePlace, Message: home + " cannot be replaced: " + cause(err),
		Next: "If it is a mounted volume, restore into a folder inside it and let PDPP_HOME name that. Nothing was changed.", Err: err}
}
