package browser

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/disk"
)

const (
	// folderPrefix begins the name of every folder of live files. It is short, because the path of the browser's socket
	// below it has at most 107 characters.
	folderPrefix = "pdpp-browser-"
	// roomBytes is how much must be free where the files of a profile go.
	roomBytes = 256 << 20
)

// The folders in a room.
const (
	homeDir    = "home"    // HOME of the browser, with the session's checkpoint
	profileDir = "profile" // the browser's own
	workDir    = "work"    // the connector's working directory
)

// InMemory returns the first folder in memory with enough space for live files, or "" when they go to the disk.
func InMemory(folders []string) string {
	for _, folder := range folders {
		if free, _, err := disk.Space(folder); folder != "" && err == nil && free >= roomBytes {
			return folder
		}
	}
	return ""
}

// makeRoom makes the empty folders of one run. The link to them is there before they are, so
// that none is ever forgotten.
func (s *ProfileSession) makeRoom() error {
	base := InMemory(s.profiles.Memory)
	if base == "" {
		base = os.TempDir()
	}
	base, err := filepath.Abs(base)
	if err != nil {
		return fmt.Errorf("find room for the browser: %w", err)
	}
	s.room = filepath.Join(base, folderPrefix+rand.Text()[:8])
	if err := os.Symlink(s.room, filepath.Join(s.folder.path, liveLink)); err != nil {
		return fmt.Errorf("link the browser profile: %w", err)
	}
	for _, dir := range []string{"", homeDir, profileDir, workDir, capturesDir} {
		path := filepath.Join(s.room, dir)
		if err := errors.Join(os.Mkdir(path, 0o700), changeOwner(s.profiles.User, path)); err != nil {
			return fmt.Errorf("make room for the browser: %w", err)
		}
	}
	return nil
}

// isProfileFolder reports whether a path is one that makeRoom makes.
func isProfileFolder(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && strings.HasPrefix(filepath.Base(path), folderPrefix)
}

// removeRoom removes the files, whatever modes they have.
func removeRoom(room string) error {
	if err := os.RemoveAll(room); err == nil {
		return nil
	}
	_ = filepath.WalkDir(room, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(room); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the files of the browser: %w", err)
	}
	return nil
}
