package archive

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tree is where the files of an archive are.
type tree interface {
	// names returns the files, in order, and the names of everything that an archive cannot hold.
	names() (files, foreign []string, err error)
	open(name string) (io.ReadCloser, error)
}

type folderTree string

func (t folderTree) names() (files, foreign []string, err error) {
	err = filepath.WalkDir(string(t), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(string(t), path)
		name := filepath.ToSlash(relative)
		if entry.Type().IsRegular() {
			files = append(files, name)
		} else {
			foreign = append(foreign, name)
		}
		return err
	})
	slices.Sort(files)
	return files, foreign, err
}

func (t folderTree) open(name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(string(t), filepath.FromSlash(name)))
}

// zipTree is the entries of a zip file.
type zipTree struct {
	files   map[string]*zip.File
	foreign []string
}

func newZipTree(entries []*zip.File) zipTree {
	t := zipTree{files: map[string]*zip.File{}}
	for _, f := range entries {
		if t.files[f.Name] != nil || !fs.ValidPath(f.Name) || !f.Mode().IsRegular() {
			t.foreign = append(t.foreign, f.Name)
			continue
		}
		t.files[f.Name] = f
	}
	return t
}

func (t zipTree) names() (files, foreign []string, err error) {
	return slices.Sorted(maps.Keys(t.files)), t.foreign, nil
}

func (t zipTree) open(name string) (io.ReadCloser, error) {
	if f := t.files[name]; f != nil {
		return f.Open()
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// openTree opens a folder or a zip file.
func openTree(place string) (tree, io.Closer, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return folderTree(place), io.NopCloser(strings.NewReader("")), nil
	}
	z, err := zip.OpenReader(place)
	if err != nil {
		return nil, nil, err
	}
	return newZipTree(z.File), z, nil
}

// packTime is the time of every entry, so that equal content makes equal bytes.
var packTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// pack writes a folder as a zip file. It calls note after every file.
func pack(folder, to string, note func(part string)) (err error) {
	names, foreign, err := folderTree(folder).names()
	if err == nil && len(foreign) > 0 {
		err = fmt.Errorf("%d entries are no files", len(foreign))
	}
	if err != nil {
		return err
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<16)
	z := zip.NewWriter(buffered)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.DefaultCompression)
	})
	for _, name := range names {
		if err = packFile(z, folderTree(folder), name); err != nil {
			break
		}
		note("zip")
	}
	return errors.Join(err, z.Close(), buffered.Flush(), file.Sync(), file.Close())
}

func packFile(z *zip.Writer, from tree, name string) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: packTime})
	if err != nil {
		return err
	}
	file, err := from.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}
