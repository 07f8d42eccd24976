package backup

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
)

const (
	// maxTarOverhead is the most that tar adds to a file: headers, a long name, padding.
	maxTarOverhead = 16 << 10
	// maxFolders is how many folders an archive may have besides its files.
	maxFolders = 100_000
	// maxFiles is how many files it may have.
	maxFiles = 1_000_000
)

// unpackBudget is what may still be unpacked from an archive, according to its header.
type unpackBudget struct {
	files, folders int
	bytes          int64
	database       int64
}

func (h Header) unpackBudget() (*unpackBudget, error) {
	if h.Files < 1 || h.Files > maxFiles || h.Database < 0 || h.Content < h.Database {
		return nil, errors.New("the header does not describe the content")
	}
	return &unpackBudget{files: h.Files, folders: maxFolders, bytes: h.Content, database: h.Database}, nil
}

// spendEntry subtracts an entry from the budget before any of it is written.
func (a *unpackBudget) spendEntry(f *tar.Header) error {
	if f.Typeflag == tar.TypeDir {
		a.folders--
	} else {
		a.files, a.bytes = a.files-1, a.bytes-f.Size
	}
	if f.Name == databaseFile && f.Size != a.database {
		return errors.New("the database has another size than the header says")
	}
	if a.files < 0 || a.folders < 0 || a.bytes < 0 || f.Size < 0 {
		return fmt.Errorf("%q is more than the header says", f.Name)
	}
	return nil
}

// limitedReader returns an error when a stream is longer than allowed.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("the archive unpacks to more than its header says")
	}
	n, err := l.r.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}
