package mirror

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// Folder is a folder of this machine.
type Folder string

// waiting is a file that has no name yet.
const waiting = "next.tmp"

func (f Folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

// Local returns the folder itself.
func (f Folder) Local() string { return string(f) }

// Prefix returns nothing: the views are run in the folder.
func (f Folder) Prefix() string { return "" }

// Sweep removes a file that a killed process did not finish.
func (f Folder) Sweep() error {
	for _, name := range []string{waiting, waiting + ".part"} {
		if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Create writes a file and renames it.
func (f Folder) Create(_ context.Context, write func(io.Writer) (name string, err error)) error {
	name := ""
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	err := export.CreateFile(f.path(waiting), func(to io.Writer) (err error) {
		name, err = write(to)
		return err
	})
	if err != nil {
		return err
	}
	folder := filepath.Dir(f.path(name))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return errors.Join(os.Rename(f.path(waiting), f.path(name)), export.SyncFolder(folder))
}

func (f Folder) Read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(f.path(name))
}

func (f Folder) Remove(_ context.Context, name string) error { return os.Remove(f.path(name)) }

func (f Folder) List(_ context.Context, folder string, use func(name string, bytes int64)) error {
	entries, err := os.ReadDir(f.path(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return err
		}
		use(folder+"/"+entry.Name(), info.Size())
	}
	return err
}
