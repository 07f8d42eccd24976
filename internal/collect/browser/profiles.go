package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Keeper keeps profiles sealed.
type Keeper interface {
	BrowserProfile(ctx context.Context, connectionID, name string) (store.BrowserProfile, error)
	SaveBrowserProfile(ctx context.Context, l store.Lease, p store.BrowserProfile, now time.Time) error
	AdoptBrowserProfile(ctx context.Context, p store.BrowserProfile, now time.Time) error
}

// Profiles are the browser profiles of a worker.
type Profiles struct {
	// Root is the folder that has a folder for each profile.
	Root   string
	Keeper Keeper
	Key    credential.Key
	// Program is the browser.
	Program string
	// User is the system user of a connector with a browser; nil means the user of this process.
	User *childprocess.User
	// NoSandbox is the owner's wish that the browser's own sandbox be off.
	NoSandbox bool
	// Memory are folders in memory, best first. Files go to the disk where none of them has enough space.
	Memory []string
	// Local are addresses of this machine that a browser may reach, for simulated sites.
	Local []string
	// Captures is the folder that keeps what connectors note of a sign-in, by run; empty means
	// that nothing is noted.
	Captures string
	// Patience is the time that a browser has to exit; zero means five seconds.
	Patience time.Duration
	// Now is the clock; nil means the real one.
	Now func() time.Time
}

// ErrBusy means that another process has the profile open.
var ErrBusy = errors.New("the browser profile is in use by another process of this machine")

// lockPatience bounds the wait for a profile that is just being sealed.
const lockPatience = 15 * time.Second

// Open returns the profile of a connection to the run of its lease. The caller must end the session, whatever becomes
// of the run.
func (p *Profiles) Open(ctx context.Context, lease store.Lease, m *manifest.Manifest) (*ProfileSession, error) {
	name, err := ProfileName(m.Key(), lease.ConnectionID)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	f, err := lockFolder(waiting, filepath.Join(p.Root, name))
	if err != nil {
		return nil, err
	}
	s := &ProfileSession{profiles: p, folder: f, name: name, lease: lease, manifest: m}
	if err := s.open(ctx); err != nil {
		if s.room != "" { // else what is there is a dead worker's, and worth another attempt
			s.discard()
		}
		return nil, errors.Join(err, f.unlock())
	}
	return s, nil
}

// open takes what a dead worker left, if it is the newest there is, or else what is kept.
func (s *ProfileSession) open(ctx context.Context) error {
	if err := s.settleLeftovers(ctx); err != nil {
		return err
	}
	kept, err := s.profiles.Keeper.BrowserProfile(ctx, s.lease.ConnectionID, s.name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("read the browser profile: %w", err)
	}
	plain, err := s.profiles.unseal(kept)
	if err != nil {
		return err
	}
	if err := s.makeRoom(); err != nil {
		return err
	}
	s.generation = kept.Generation
	if len(plain) > 0 {
		if err := unpackProfile(plain, s.room, s.profiles.User); errors.Is(err, errHostile) {
			// What opens with the key and was not packed here is lost like what is damaged.
			if err := errors.Join(s.folder.clear(), s.makeRoom()); err != nil {
				return err
			}
		} else if err != nil {
			return err
		} else {
			s.account, s.restored = kept.AccountMAC, true
		}
	}
	return s.folder.note(openedProfile{ConnectionID: s.lease.ConnectionID, RunID: s.lease.RunID, Generation: s.generation})
}

// sealPlace names what a profile is sealed for: it opens nowhere else. The name holds that of the
// connection.
func sealPlace(name string) string { return "profile:" + name }

// unseal returns a decrypted profile, or nothing for none. A damaged profile counts as none, because it can never be
// opened. A profile sealed with another key is an error, because that key may come back.
func (p *Profiles) unseal(kept store.BrowserProfile) ([]byte, error) {
	if len(kept.Sealed) == 0 {
		return nil, nil
	}
	plain, err := p.Key.Open(sealPlace(kept.Name), kept.Sealed)
	switch {
	case errors.Is(err, credential.ErrDamaged):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("open the browser profile: %w", err)
	}
	return plain, nil
}

func (p *Profiles) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// names lists the profiles that have a folder here.
func (p *Profiles) names() ([]string, error) {
	entries, err := os.ReadDir(p.Root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for browser profiles: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && profileName().MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
