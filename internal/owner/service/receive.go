package service

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
	// spare is what is left free on the disk.
	spare = 256 << 20
	// longestFileName bounds what a file is called here, in bytes.
	longestFileName = 150
	// mostAlike bounds how many files of one name a folder takes.
	mostAlike = 1000
)

// received is a file that came whole and has no place yet.
type received struct {
	folder, part string
	sha256       string
	bytes        int64
	place        string // where keep put it
}

// receive writes a file beside its place, and gives nothing unless it came whole.
func receive(ctx context.Context, folder string, f api.ImportFile, most int64) (*received, error) {
	sweepParts(folder, time.Now())
	if err := roomFor(folder, f.Bytes); err != nil {
		return nil, err
	}
	got := &received{folder: folder, part: partPath(folder, rand.Text())}
	out, err := os.OpenFile(got.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, unwritable(err)
	}
	err = got.fill(ctx, out, f, most)
	if closed := out.Close(); err == nil && closed != nil {
		err = unwritable(closed)
	}
	if err != nil {
		got.drop()
		return nil, err
	}
	return got, nil
}

func (g *received) fill(ctx context.Context, out *os.File, f api.ImportFile, most int64) (err error) {
	sum := sha256.New()
	in := &source{ctx: ctx, r: f.Content}
	if f.Content == nil {
		in.r = strings.NewReader("")
	}
	g.bytes, err = io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, most+1))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case in.err != nil:
		return cut(in.err)
	case errors.Is(err, syscall.ENOSPC):
		return noRoom(err)
	case err != nil:
		return unwritable(err)
	case g.bytes > most:
		return tooLarge(most)
	case f.Bytes > 0 && g.bytes != f.Bytes:
		return cut(fmt.Errorf("%d bytes of %d came", g.bytes, f.Bytes))
	case g.bytes == 0:
		return &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileNotAccepted, Param: "file", Message: "The file is empty.", Next: "Choose the file again."}
	}
	if err := out.Sync(); err != nil {
		return unwritable(err)
	}
	g.sha256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// source tells errors of the sender from those of the disk.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, s.ctx.Err()
	}
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// keep gives the file its place: its own name in the folder, or, where there is one already, in a
// folder beside it, because some readers go by names. The place is below the folder, with slashes.
func (g *received) keep(name string) (string, error) {
	whole := time.Now().Add(-settledFor)
	if err := os.Chtimes(g.part, whole, whole); err != nil {
		return "", unwritable(err)
	}
	for n := 1; n <= mostAlike; n++ {
		place := name
		if n > 1 {
			place = path.Join(fmt.Sprintf("upload-%d", n), name)
			if err := os.Mkdir(filepath.Join(g.folder, path.Dir(place)), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return "", unwritable(err)
			}
		}
		// A link is not made where something is; a rename would replace it.
		err := os.Link(g.part, filepath.Join(g.folder, filepath.FromSlash(place)))
		if errors.Is(err, fs.ErrExist) {
			if !g.at(place) {
				continue
			}
			err = nil // one that was killed put it there
		}
		if err != nil && g.vacant(place) { // no links on this disk
			err = os.Rename(g.part, filepath.Join(g.folder, filepath.FromSlash(place)))
		}
		if err != nil {
			return "", unwritable(err)
		}
		g.place = place
		syncFolder(filepath.Join(g.folder, filepath.FromSlash(path.Dir(place))))
		return place, nil
	}
	return "", api.Invalid("file", "There are too many files of this name.", "Give it another name.")
}

// at reports whether the file is at a place already.
func (g *received) at(place string) bool {
	there, err := os.Lstat(filepath.Join(g.folder, filepath.FromSlash(place)))
	part, err2 := os.Lstat(g.part)
	return err == nil && err2 == nil && os.SameFile(there, part)
}

func (g *received) vacant(place string) bool {
	_, err := os.Lstat(filepath.Join(g.folder, filepath.FromSlash(place)))
	return errors.Is(err, fs.ErrNotExist)
}

// drop removes what has no place.
func (g *received) drop() { _ = os.Remove(g.part) }

// forget removes the file from its place again.
func (g *received) forget() { _ = os.Remove(filepath.Join(g.folder, filepath.FromSlash(g.place))) }

// syncFolder makes a new name durable; not every system can.
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
		return unwritable(err)
	}
	defer root.Close()
	if err := root.Remove(filepath.FromSlash(rel)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(err)
	}
	return nil
}

// roomFor refuses a file for which there is no room, as far as both are known.
func roomFor(folder string, bytes int64) error {
	free, _, err := disk.Space(folder)
	if err == nil && bytes > 0 && free < uint64(bytes)+spare {
		return noRoom(fmt.Errorf("%d bytes are free, %d come", free, bytes))
	}
	return nil
}

func noRoom(err error) *api.Error {
	return &api.Error{Status: http.StatusInsufficientStorage, Code: api.CodeNoRoom, Err: err, Message: "There is not enough room for the file. Nothing was kept.",
		Next: "Make room on the server's disk, then give it again."}
}

func cut(err error) *api.Error {
	return &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileCut, Param: "file", Err: err, Message: "The file did not come to its end. Nothing was kept.", Next: "Give it again."}
}

// fileName is what a file is called here, whatever it was called where it comes from: a single
// name, on one line, that hides nothing and leads nowhere.
func fileName(given string) string {
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
