package backup

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// stagingFolder is the folder next to a home into which an archive is unpacked. While it has the in-progress mark, it
// contains nothing that is not in the archive.
type stagingFolder struct {
	dir  string
	root *os.Root
	size int64
	tell Observer
	// connectors are the unpacked foreign connectors.
	connectors []string
}

// newStaging creates the folder, and removes those of interrupted restores.
func newStaging(home string) (*stagingFolder, error) {
	parent := filepath.Dir(home)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fileError(parent, err)
	}
	if err := clearStaging(home); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, filepath.Base(home)+stagingSuffix+"*") // mode 0700
	if err != nil {
		return nil, fileError(parent, err)
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		err = root.WriteFile(inProgressFile, nil, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fileError(dir, err), os.RemoveAll(dir))
	}
	return &stagingFolder{dir: dir, root: root}, nil
}

// clearStaging removes folders with the mark. One without it is an old home, from a restore that was killed after the
// swap.
func clearStaging(home string) error {
	entries, err := os.ReadDir(filepath.Dir(home))
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(home), e.Name())
		if !e.IsDir() || !strings.HasPrefix(e.Name(), filepath.Base(home)+stagingSuffix) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(path, inProgressFile)); err != nil {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("clear away an unfinished restore: %w", err)
		}
	}
	return nil
}

func (s *stagingFolder) discard() error { return errors.Join(s.root.Close(), os.RemoveAll(s.dir)) }

func (s *stagingFolder) begin(h Header) error {
	s.size = h.Database
	return nil
}

func (s *stagingFolder) writeProgress(done int64) { s.tell.report(StepExtract, done, s.size) }

// take writes one entry. os.Root confines even a forged archive to the folder.
func (s *stagingFolder) take(h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeDir {
		return s.root.MkdirAll(h.Name, 0o700)
	}
	if parts := strings.Split(h.Name, "/"); len(parts) == 3 && parts[0] == connectorsDir && parts[2] == "connector" {
		s.connectors = append(s.connectors, parts[1])
	}
	// Only the owner may read the file; the executable bit is preserved.
	f, err := s.root.OpenFile(h.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600|fs.FileMode(h.Mode)&0o100)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", h.Name, err)
	}
	_, err = io.Copy(f, content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil && isImportPath(h.Name) {
		err = s.root.Chtimes(h.Name, h.ModTime, h.ModTime)
	}
	if err != nil {
		return fmt.Errorf("unpack %s: %w", h.Name, err)
	}
	return nil
}

// syncFolders makes the names in the folder durable.
func (s *stagingFolder) syncFolders() error {
	if err := s.root.Close(); err != nil {
		return err
	}
	return filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return syncFolder(path)
	})
}
