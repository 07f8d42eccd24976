package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/filelock"
)

// The files of a profile's folder.
const (
	lockFile   = "lock"
	liveLink   = "live"
	openedFile = "opened"
)

// profileFolder is a profile's folder while this process holds its lock.
type profileFolder struct {
	path string
	lock *os.File
}

// lockEvery is how often a held lock is tried again.
const lockEvery = 25 * time.Millisecond

// lockFolder makes the folder, if need be, and waits for its lock; ErrBusy when the wait is
// over.
func lockFolder(ctx context.Context, path string) (*profileFolder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the browser profile: %w", err)
	}
	for {
		f, err := tryLock(path)
		if !errors.Is(err, ErrBusy) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ErrBusy, ctx.Err())
		case <-time.After(lockEvery):
		}
	}
}

// tryLock takes the lock if it is free. The lock goes with the process, however it ends.
func tryLock(path string) (*profileFolder, error) {
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the browser profile: %w", err)
	}
	locked, err := filelock.TryLock(f)
	if locked {
		return &profileFolder{path: path, lock: f}, nil
	}
	_ = f.Close()
	if err == nil {
		return nil, ErrBusy
	}
	return nil, fmt.Errorf("lock the browser profile: %w", err)
}

func (f *profileFolder) unlock() error { return f.lock.Close() }

// openedProfile is the generation of the live files.
type openedProfile struct {
	ConnectionID string `json:"connection_id"`
	RunID        string `json:"run_id"`
	Generation   int64  `json:"generation"`
	// Boot is that of the system. Files of an earlier one may not have reached the disk whole.
	Boot string `json:"boot"`
}

// note records that the live files are complete.
func (f *profileFolder) note(o openedProfile) error {
	o.Boot = BootID()
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	fresh := filepath.Join(f.path, openedFile+".new")
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return fmt.Errorf("note the opened browser profile: %w", err)
	}
	if err := os.Rename(fresh, filepath.Join(f.path, openedFile)); err != nil {
		return fmt.Errorf("note the opened browser profile: %w", err)
	}
	return nil
}

// noted reads it back; false when the live files are not whole, or of an earlier boot.
func (f *profileFolder) noted() (o openedProfile, whole bool) {
	text, err := os.ReadFile(filepath.Join(f.path, openedFile))
	if err != nil || json.Unmarshal(text, &o) != nil {
		return openedProfile{}, false
	}
	return o, o.ConnectionID != "" && o.Boot == BootID()
}

// live is where the files are; empty when there are none.
func (f *profileFolder) live() string {
	room, err := os.Readlink(filepath.Join(f.path, liveLink))
	if err != nil || !isProfileFolder(room) {
		return ""
	}
	if info, err := os.Lstat(room); err != nil || !info.IsDir() {
		return ""
	}
	return room
}

// clear removes the live files and their note. It removes the note first, so that partly removed files are never
// treated as complete.
func (f *profileFolder) clear() error {
	room := f.live()
	err := remove(filepath.Join(f.path, openedFile))
	if room != "" {
		err = errors.Join(err, removeRoom(room))
	}
	return errors.Join(err, remove(filepath.Join(f.path, liveLink)))
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// BootID returns the id of the current boot of the system; empty where that is not known.
func BootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // where there is none, none counts
	return string(id)
}
