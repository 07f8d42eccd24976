package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/protocol"
)

// archiveMember is a file or folder of the home that goes into an archive.
type archiveMember struct {
	path, name string
	folder     bool
	size       int64
	mode       fs.FileMode
	changed    time.Time // of imported files
}

// listMembers lists the content of an archive: the key, the foreign connectors, the files of records, imported files,
// and the copy of the database. It leaves out links: a connector could otherwise link any file of the owner into its
// folder and have it copied.
func listMembers(ctx context.Context, from archiveSource) (all []archiveMember, err error) {
	home, database := from.home, from.database
	key, err := newMember(filepath.Join(home, credential.KeyFile), credential.KeyFile)
	switch {
	case err == nil:
		all = append(all, key)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	err = filepath.WalkDir(filepath.Join(home, connectorsDir), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it may be missing
		}
		if err != nil {
			return err
		}
		if !d.IsDir() && !d.Type().IsRegular() {
			return nil
		}
		inside, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		m, err := newMember(path, filepath.ToSlash(inside))
		all = append(all, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	files, err := listBlobs(ctx, home, database)
	if err != nil {
		return nil, err
	}
	all = append(all, files...)
	if from.imports {
		given, err := listImports(home, filepath.Dir(database))
		if err != nil {
			return nil, err
		}
		all = append(all, given...)
	}
	m, err := newMember(database, databaseFile)
	return append(all, m), err
}

// listImports lists the files in the import folders of the home. An undo may remove one meanwhile, so each gets a
// second link in the work folder. Incomplete files are left out.
func listImports(home, work string) (all []archiveMember, err error) {
	err = filepath.WalkDir(filepath.Join(home, importsDir), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it may be missing or just removed
		}
		if err != nil || !d.IsDir() && (!d.Type().IsRegular() || strings.HasPrefix(d.Name(), partialPrefix)) {
			return err
		}
		inside, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		if !d.IsDir() {
			held := filepath.Join(work, fmt.Sprintf("import-%d", len(all)))
			switch err := os.Link(path, held); {
			case err == nil:
				path = held
			case errors.Is(err, fs.ErrNotExist):
				return nil
			}
		}
		m, err := newMember(path, filepath.ToSlash(inside))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !m.folder {
			info, err := os.Lstat(path)
			if err != nil {
				return fmt.Errorf("read a file of the home: %w", err)
			}
			m.mode, m.changed = 0o600, info.ModTime()
		}
		all = append(all, m)
		return err
	})
	return all, err
}

// partialPrefix is the prefix of a file that is being received.
const partialPrefix = ".receiving-"

func isImportPath(name string) bool { return strings.HasPrefix(name, importsDir+"/") }

// listBlobs lists the files that the copy of the database refers to. A file that is missing in the home is missing in
// the archive.
func listBlobs(ctx context.Context, home, database string) (all []archiveMember, err error) {
	hashes, err := referencedBlobs(ctx, database)
	if err != nil {
		return nil, err
	}
	made := map[string]bool{}
	for _, hash := range hashes {
		if !protocol.IsBlobHash(hash) {
			continue
		}
		folder := path.Join(blobsDir, hash[:2])
		m, err := newMember(filepath.Join(home, blobsDir, hash[:2], hash), path.Join(folder, hash))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !m.mode.IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, name := range []string{blobsDir, folder} {
			if !made[name] {
				made[name] = true
				all = append(all, archiveMember{name: name, folder: true})
			}
		}
		all = append(all, m)
	}
	return all, nil
}

func isBlobPath(name string) bool { return strings.HasPrefix(name, blobsDir+"/") }

func newMember(path, name string) (archiveMember, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return archiveMember{}, fmt.Errorf("read a file of the home: %w", err)
	}
	return archiveMember{path: path, name: name, folder: info.IsDir(), size: info.Size(), mode: info.Mode().Perm()}, nil
}
