package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// RestoreOptions are what to restore and where.
type RestoreOptions struct {
	File  string
	Home  string
	Force bool // move a home that has data aside
	Keys  Keys
	// KeepAccess leaves all access as it was. Otherwise sessions, owner tokens, grants, devices, passkeys, recovery
	// codes and push targets end, because those that were revoked after the backup would be valid again.
	KeepAccess bool
	Now        time.Time
	Observe    Observer
}

// Restored describes a restored home.
type Restored struct {
	Home string `json:"home"`
	// Aside is the new path of the old home; empty when there was none.
	Aside string `json:"moved_aside,omitempty"`
	// Ended counts the ended access, without sessions, and EndedList lists it.
	Ended     int           `json:"access_ended"`
	EndedList []EndedAccess `json:"ended"`
	// Connectors are the restored foreign connectors. None runs before the owner confirms it.
	Connectors []string `json:"connectors"`
	Header
}

// Restore creates a home from an archive. It unpacks and checks the archive next to the home, and replaces the home
// in one step at the end, so that an interrupted restore leaves either the old home or the new one. A home with data
// is rejected, or moved aside.
func Restore(ctx context.Context, o RestoreOptions) (done Restored, err error) {
	if o.Home, err = resolveHome(o.Home); err != nil {
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
		return done, &usererr.Error{Code: "not_found", Message: "the backup cannot be read: " + systemCause(err),
			Next: "Check the path of the file.", Err: err}
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
	header, err := readArchive(ctx, f, o.Keys.Plain, identities, staged, staged.writeProgress)
	if err != nil {
		return done, err
	}
	if done.EndedList, err = o.acceptDatabase(ctx, staged, header); err != nil {
		return done, err
	}
	done.Ended = len(done.EndedList)
	placed = true
	done.Home, done.Header, done.Connectors = o.Home, header, staged.connectors
	done.Aside, err = o.replaceHome(ctx, staged)
	return done, err
}

// resolveHome returns the real path of the home.
func resolveHome(home string) (string, error) {
	path, err := filepath.Abs(home)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	return path, nil
}

// mayReplace rejects a home that is in use and, without Force, one that has data.
func (o RestoreOptions) mayReplace(ctx context.Context) error {
	info, err := os.Stat(o.Home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.IsDir() {
		return &usererr.Error{Code: CodePlace, Message: o.Home + " is not a folder", Next: "Name another one with --to.",
			Err: err}
	}
	for _, name := range []string{databaseFile, credential.KeyFile} {
		if _, err := os.Lstat(filepath.Join(o.Home, name)); err == nil && !o.Force {
			return &usererr.Error{Code: CodeHomeFull, Message: o.Home + " has data already",
				Next: "Name another folder with --to, or move the old one aside with --force."}
		}
	}
	return o.requireUnused(ctx)
}

// requireUnused rejects a home that another process is using.
func (o RestoreOptions) requireUnused(ctx context.Context) error {
	path := filepath.Join(o.Home, databaseFile)
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	busy, err := isDatabaseInUse(ctx, path)
	if err == nil && busy {
		err = &usererr.Error{Code: CodeHomeInUse, Message: "a server or another command is using " + o.Home,
			Next: "Stop it (pdpp serve), then restore again. Nothing was changed."}
	}
	return err
}

// acceptDatabase checks the unpacked database as strictly as a copy, upgrades its schema, and ends what must not be
// valid again.
func (o RestoreOptions) acceptDatabase(
	ctx context.Context, s *stagingFolder, h Header,
) (ended []EndedAccess, err error) {
	path := filepath.Join(s.dir, databaseFile)
	o.Observe.report(StepCheck, 0, h.Database)
	_, counts, err := inspectDatabase(ctx, path)
	if err != nil {
		return nil, err
	}
	if counts != h.Counts {
		return nil, &usererr.Error{Code: CodeDamaged, Message: "the backup does not hold what it says",
			Next: "Use another copy of it. Nothing was changed."}
	}
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	var unusable *store.FaultError
	switch {
	case err == nil:
	case errors.As(err, &unusable) && unusable.Fault == store.FaultTooOld:
		return nil, &usererr.Error{Code: CodeOlder, Message: "the backup was made by an earlier PDPP (" + h.Program + ")",
			Next: "Restore it with that program, and export the records there (pdpp export). Nothing was changed.", Err: err}
	case errors.As(err, &unusable) && unusable.Fault == store.FaultTooNew:
		return nil, &usererr.Error{Code: CodeNewer, Message: "the backup was made by a newer PDPP (" + h.Program + ")",
			Next: "Upgrade this program, then restore. Nothing was changed.", Err: err}
	default:
		return nil, fmt.Errorf("open the restored database: %w", err)
	}
	// The archive may come from someone else, so its confirmations do not count.
	err = st.DropConfirmations(ctx)
	if err == nil && !o.KeepAccess {
		ended, err = endAccess(ctx, st, o.Now)
	}
	if err := errors.Join(err, st.Close()); err != nil {
		return ended, fmt.Errorf("prepare the restored database: %w", err)
	}
	return ended, s.syncFolders()
}

// replaceHome swaps the staged folder with the home. From its first step on nothing is undone.
func (o RestoreOptions) replaceHome(ctx context.Context, s *stagingFolder) (aside string, err error) {
	if err := o.requireUnused(ctx); err != nil { // another process may have started since
		return "", errors.Join(err, s.discard())
	}
	o.Observe.report(StepReplace, 0, 0)
	swapped, err := swap(s.dir, o.Home)
	if err != nil {
		return "", errors.Join(isMisplaced(o.Home, err), s.discard())
	}
	if err := syncFolder(filepath.Dir(o.Home)); err != nil {
		return "", err
	}
	if swapped {
		o.Observe.report(StepAside, 0, 0)
		aside = o.Home + asideSuffix + o.Now.UTC().Format(asideTimeFormat)
		if err := os.Rename(s.dir, aside); err != nil {
			aside = s.dir // it keeps its name and content
		}
	}
	return aside, os.Remove(filepath.Join(o.Home, inProgressFile))
}

func isMisplaced(home string, err error) *usererr.Error {
	return &usererr.Error{Code: CodePlace, Message: home + " cannot be replaced: " + systemCause(err),
		Next: "If it is a mounted volume, restore into a folder inside it and let PDPP_HOME name that. Nothing was changed.",
		Err:  err}
}
