package browser

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// settleLeftovers deals with what a worker that was killed left of this profile. Whole files
// of the kept generation are sealed under the lease of the run that is to begin.
func (s *ProfileSession) settleLeftovers(ctx context.Context) error {
	return s.profiles.sealLeftover(s.folder, s.name, func(connectionID string) func(p store.BrowserProfile) error {
		if connectionID != s.lease.ConnectionID {
			return nil
		}
		return func(p store.BrowserProfile) error {
			return s.profiles.Keeper.SaveBrowserProfile(ctx, s.lease, p, s.profiles.now())
		}
	})
}

// sealLeftover seals live files that no process uses, if put accepts them, and removes them. A nil put means that they
// belong to no connection.
func (p *Profiles) sealLeftover(f *profileFolder, name string,
	put func(connectionID string) func(store.BrowserProfile) error) error {
	room := f.live()
	if room == "" {
		return f.clear()
	}
	if err := p.awaitUnused(room); err != nil {
		return err
	}
	note, whole := f.noted()
	keep := put(note.ConnectionID)
	if !whole || keep == nil {
		return f.clear()
	}
	left := &ProfileSession{profiles: p, folder: f, name: name,
		lease: store.Lease{ConnectionID: note.ConnectionID, RunID: note.RunID}, room: room, generation: note.Generation}
	if _, err := left.sealAndStore(keep); err != nil && !isOutdated(err) {
		return err
	}
	return nil
}

// Recover seals or removes the live files of killed workers of this machine that no process uses. It returns how many
// must be checked again, because a run that may still be alive holds the connection.
func (p *Profiles) Recover(ctx context.Context) (left int, err error) {
	names, err := p.names()
	if err != nil {
		return 0, err
	}
	err = p.pruneCaptures()
	for _, name := range names {
		again, failed := p.recover(ctx, name)
		if again {
			left++
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("recover the browser profile %s: %w", name, failed))
		}
	}
	return left, err
}

func (p *Profiles) recover(ctx context.Context, name string) (again bool, err error) {
	f, err := tryLock(filepath.Join(p.Root, name))
	if errors.Is(err, ErrBusy) {
		return false, nil // a run that goes on
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.unlock()) }()
	err = p.sealLeftover(f, name, func(string) func(store.BrowserProfile) error {
		return func(kept store.BrowserProfile) error { return p.Keeper.AdoptBrowserProfile(ctx, kept, p.now()) }
	})
	if errors.Is(err, store.ErrRunActive) {
		return true, nil
	}
	return err != nil, err
}
