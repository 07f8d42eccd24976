package imports

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/disk"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	// reservedDiskBytes is how much disk space must stay free.
	reservedDiskBytes = 256 << 20
	// longestFileName is the longest name of a stored file, in bytes.
	longestFileName = 150
	// maxFilesPerName is how many files with the same name a folder can have.
	maxFilesPerName = 1000
)

// receivedFile is a complete file that is not in its final place yet.
type receivedFile struct {
	folder, part string
	sha256       string
	bytes        int64
	place        string // path in the folder, set by moveIntoFolder
}

// receiveFile writes a file next to its final place. It returns an error unless the file arrived completely.
func receiveFile(ctx context.Context, folder string, f api.ImportFile, most int64) (*receivedFile, error) {
	sweepParts(folder, time.Now())
	if err := checkDiskSpace(folder, f.Bytes); err != nil {
		return nil, err
	}
	got := &receivedFile{folder: folder, part: partialFilePath(folder, rand.Text())}
	out, err := os.OpenFile(got.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, folderNotWritable(err)
	}
	err = got.writeContent(ctx, out, f, most)
	if closed := out.Close(); err == nil && closed != nil {
		err = folderNotWritable(closed)
	}
	if err != nil {
		got.removePartialFile()
		return nil, err
	}
	return got, nil
}

func (g *receivedFile) writeContent(ctx context.Context, out *os.File, f api.ImportFile, most int64) (err error) {
	sum := sha256.New()
	in := &senderReader{ctx: ctx, r: f.Content}
	if f.Content == nil {
		in.r = strings.NewReader("")
	}
	g.bytes, err = io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, most+1))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case in.err != nil:
		return incompleteFileError(in.err)
	case errors.Is(err, syscall.ENOSPC):
		return diskFullError(err)
	case err != nil:
		return folderNotWritable(err)
	case g.bytes > most:
		return fileTooLargeError(most)
	case f.Bytes > 0 && g.bytes != f.Bytes:
		return incompleteFileError(fmt.Errorf("%d bytes of %d came", g.bytes, f.Bytes))
	case g.bytes == 0:
		return &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileNotAccepted, Param: "file",
			Message: "The file is empty.", Next: "Choose the file again."}
	}
	if err := out.Sync(); err != nil {
		return folderNotWritable(err)
	}
	g.sha256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// senderReader remembers read errors of the sender, so that the caller can distinguish them from disk errors.
type senderReader struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *senderReader) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, s.ctx.Err()
	}
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// moveIntoFolder moves the file into the folder under its own name, or into a new subfolder if the name exists,
// because some connectors depend on names. It returns the relative path with slashes.
func (g *receivedFile) moveIntoFolder(name string) (string, error) {
	whole := time.Now().Add(-receivedFileAge)
	if err := os.Chtimes(g.part, whole, whole); err != nil {
		return "", folderNotWritable(err)
	}
	for n := 1; n <= maxFilesPerName; n++ {
		place := name
		if n > 1 {
			place = path.Join(fmt.Sprintf("upload-%d", n), name)
			if err := os.Mkdir(filepath.Join(g.folder, path.Dir(place)), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return "", folderNotWritable(err)
			}
		}
		// A link fails if the path exists; a rename would replace the file.
		err := os.Link(g.part, filepath.Join(g.folder, filepath.FromSlash(place)))
		if errors.Is(err, fs.ErrExist) {
			if !g.isStoredAt(place) {
				continue
			}
			err = nil // a killed process put it there
		}
		if err != nil && g.isUnusedPath(place) { // the disk has no hard links
			err = os.Rename(g.part, filepath.Join(g.folder, filepath.FromSlash(place)))
		}
		if err != nil {
			return "", folderNotWritable(err)
		}
		g.place = place
		syncFolder(filepath.Join(g.folder, filepath.FromSlash(path.Dir(place))))
		return place, nil
	}
	return "", api.Invalid("file", "There are too many files with this name.", "Rename the file.")
}

// isStoredAt reports whether the file is already at a path.
func (g *receivedFile) isStoredAt(place string) bool {
	there, err := os.Lstat(filepath.Join(g.folder, filepath.FromSlash(place)))
	part, err2 := os.Lstat(g.part)
	return err == nil && err2 == nil && os.SameFile(there, part)
}

func (g *receivedFile) isUnusedPath(place string) bool {
	_, err := os.Lstat(filepath.Join(g.folder, filepath.FromSlash(place)))
	return errors.Is(err, fs.ErrNotExist)
}

// removePartialFile removes the partial file.
func (g *receivedFile) removePartialFile() { _ = os.Remove(g.part) }

// removeStoredFile removes the file from its final place.
func (g *receivedFile) removeStoredFile() {
	_ = os.Remove(filepath.Join(g.folder, filepath.FromSlash(g.place)))
}

// syncFolder makes a new name durable. Some systems do not support it, so errors are ignored.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// removeWithin deletes a file below a folder, without following links out of it.
func removeWithin(dir, rel string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return folderNotWritable(err)
	}
	defer root.Close()
	if err := root.Remove(filepath.FromSlash(rel)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return folderNotWritable(err)
	}
	return nil
}

// checkDiskSpace returns an error if the disk has too little space for the file. Unknown sizes are accepted.
func checkDiskSpace(folder string, bytes int64) error {
	free, _, err := disk.Space(folder)
	if err == nil && bytes > 0 && free < uint64(bytes)+reservedDiskBytes {
		return diskFullError(fmt.Errorf("%d bytes are free, %d come", free, bytes))
	}
	return nil
}

func diskFullError(err error) *api.Error {
	return &api.Error{Status: http.StatusInsufficientStorage, Code: api.CodeNoRoom, Err: err,
		Message: "The disk does not have enough space for the file. Nothing was stored.",
		Next:    "Free up space on the server's disk, then send the file again."}
}

func incompleteFileError(err error) *api.Error {
	return &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileCut, Param: "file", Err: err,
		Message: "The file did not arrive completely. Nothing was stored.", Next: "Send it again."}
}

// safeFileName returns a safe name for a received file: a single visible name without path separators or control
// characters.
func safeFileName(given string) string {
	name := given[strings.LastIndexAny(given, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) || r == utf8.RuneError || strings.ContainsRune(`:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(text.Line(name), "_"))
	name = strings.TrimRight(strings.TrimLeft(name, ". "), " ")
	ending := path.Ext(name)
	if len(ending) > 20 {
		ending = ""
	}
	stem := strings.TrimSuffix(name, ending)
	for len(stem)+len(ending) > longestFileName {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	if stem == "" {
		stem = "file"
	}
	return stem + ending
}
