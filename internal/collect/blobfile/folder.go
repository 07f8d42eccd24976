// Package blobfile reads the files that a connector leaves in its working directory, and cleans their names.
package blobfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Folder is the working directory of a connector. It opens regular files below the directory and nothing else.
type Folder struct {
	Dir  string
	root *os.Root // opened with the first file
}

// OpenFile opens a regular file below the folder. It rejects links and special files such as pipes.
func (w *Folder) OpenFile(path string) (*os.File, error) {
	if !filepath.IsLocal(path) || strings.ContainsAny(path, "\\\x00") {
		return nil, errors.New("the path leads out of the working directory")
	}
	if w.root == nil {
		root, err := os.OpenRoot(w.Dir)
		if err != nil {
			return nil, err
		}
		w.root = root
	}
	path = filepath.Clean(filepath.FromSlash(path))
	before, err := w.checkPath(path)
	if err != nil {
		return nil, err
	}
	// O_NONBLOCK: opening must not block if a pipe replaces the file after the check.
	f, err := w.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(info, before) || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, errors.New("the file was replaced while it was opened")
	}
	return f, nil
}

// checkPath checks that every element of path is a directory and the last one a regular file. It returns the last.
func (w *Folder) checkPath(path string) (file fs.FileInfo, err error) {
	for at := 0; at < len(path); {
		end := len(path)
		if next := strings.IndexByte(path[at:], filepath.Separator); next >= 0 {
			end = at + next
		}
		if file, err = w.root.Lstat(path[:end]); err != nil {
			return nil, err
		}
		if end < len(path) && !file.IsDir() || end == len(path) && !file.Mode().IsRegular() {
			return nil, errors.New("the path leads through a link, or to no file")
		}
		at = end + 1
	}
	return file, nil
}

// RemoveFile removes a file that is stored elsewhere now. Errors are ignored: the folder is removed after the run.
func (w *Folder) RemoveFile(path string) {
	if w.root != nil {
		_ = w.root.Remove(filepath.Clean(filepath.FromSlash(path)))
	}
}

// Close releases the directory handle.
func (w *Folder) Close() {
	if w.root != nil {
		_ = w.root.Close()
	}
}
