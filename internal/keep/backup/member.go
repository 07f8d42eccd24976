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

	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/protocol"
)

// member is a file or folder of the home that goes into an archive.
type member struct {
	path, name string
	folder     bool
	size       int64
	mode       fs.FileMode
	changed    time.Time // of what was imported
}

// listMembers lists what an archive holds: the key, the foreign connectors, the files of
// records, what the owner imported, and the database from its copy. Links are left out: what they lead to is not of the home, and a connector that
// made one could have anything of the owner's copied into its folder.
func listMembers(ctx context.Context, from source) (all []member, err error) {
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
			return nil // there need not be any
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

// listImports lists the files that lie in the import folders of the home, whether they were given or put
// there by hand. An undo may take one away meanwhile: each gets a second name in the work folder, which
// goes with it. What has not come to its end is left out.
func listImports(home, work string) (all []member, err error) {
	err = filepath.WalkDir(filepath.Join(home, importsDir), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // there need not be any, and one may be gone
		}
		if err != nil || !d.IsDir() && (!d.Type().IsRegular() || strings.HasPrefix(d.Name(), partMark)) {
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

// partMark begins the name of a file that is being received.
const partMark = ".receiving-"

func isImport(name string) bool { return strings.HasPrefix(name, importsDir+"/") }

// listBlobs lists the files that the copy of the database knows, in their folders. One that is
// missing in the home is missing in the archive.
func listBlobs(ctx context.Context, home, database string) (all []member, err error) {
	hashes, err := knownBlobs(ctx, database)
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
				all = append(all, member{name: name, folder: true})
			}
		}
		all = append(all, m)
	}
	return all, nil
}

func isBlob(name string) bool { return strings.HasPrefix(name, blobsDir+"/") }

func newMember(path, name string) (member, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return member{}, fmt.Errorf("read a file of the home: %w", err)
	}
	return member{path: path, name: name, folder: info.IsDir(), size: info.Size(), mode: info.Mode().Perm()}, nil
}
