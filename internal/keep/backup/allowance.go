package backup

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
)

const (
	// tarBlocks is what a tar has around a file at most: headers, a long name, padding.
	tarBlocks = 16 << 10
	// maxFolders is how many folders an archive may have beside its files.
	maxFolders = 100_000
	// maxFiles is how many files it may have.
	maxFiles = 1_000_000
)

// allowance is what may still be unpacked of an archive: what its header says, and no more.
type allowance struct {
	files, folders int
	bytes          int64
	database       int64
}

func (h Header) allowance() (*allowance, error) {
	if h.Files < 1 || h.Files > maxFiles || h.Database < 0 || h.Content < h.Database {
		return nil, errors.New("the header does not say what follows")
	}
	return &allowance{files: h.Files, folders: maxFolders, bytes: h.Content, database: h.Database}, nil
}

// spend takes an entry off the allowance before any of it is written.
func (a *allowance) spend(f *tar.Header) error {
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

// limited ends a stream that has more than it should with an error.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("the archive unpacks to more than its header says")
	}
	n, err := l.r.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}
