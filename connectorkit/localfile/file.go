package localfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// probe is how much of a file's beginning, and before its place, must be unchanged.
	probe        = 64 << 10
	defaultLimit = 1 << 20
)

// errDamaged means that the content cannot be decoded.
var errDamaged = errors.New("the file is damaged")

// RefusedError is why a store does not take a file, or not all of it. What was brought of it
// is kept.
type RefusedError struct {
	Reason protocol.Reason
	Err    error
}

func (e *RefusedError) Error() string { return string(e.Reason) + ": " + e.Err.Error() }

func (e *RefusedError) Unwrap() error { return e.Err }

// File is a file being read.
type File struct {
	Store    *Store
	Root     string
	Rel      string // below the root, with slashes
	Path     string // absolute
	ID       string
	Size     int64
	Modified time.Time
	// Changed is the latest time that the system has for the file or its companions.
	Changed time.Time
	// Cut says that Whole got only the beginning.
	Cut bool
	// Offset and Length are where the line is that is being read.
	Offset, Length int64

	r    *reader
	f    *found
	e    *entry
	line func(offset, length int64) ([]byte, error)
}

// Emit brings a record. It is sent when the slice that it belongs to is closed.
func (f *File) Emit(stream string, rec connectorkit.Record) {
	if f.r.selected[stream] {
		if f.f.root.Import {
			rec = rec.FromFile(f.Rel)
		}
		f.r.slice.out = append(f.r.slice.out, emission{stream: stream, rec: rec})
	}
}

// Wants reports whether this run collects one of the streams.
func (f *File) Wants(streams []string) bool {
	return slices.ContainsFunc(streams, func(name string) bool { return f.r.selected[name] })
}

// Seekable reports whether lines can be read again.
func (f *File) Seekable() bool { return f.line != nil }

// Line reads a line again that was read before.
func (f *File) Line(offset, length int64) ([]byte, error) {
	if f.line == nil || length > MaxLine {
		return nil, errors.ErrUnsupported
	}
	return f.line(offset, length)
}

// Skip counts a line that is left out on purpose, by its kind.
func (f *File) Skip(kind string) { f.r.cur.skip(f.Store.Name, kind, 1) }

// Exists reports whether the tree held a file at that path below the same root.
func (f *File) Exists(rel string) bool { return f.r.walk.at(f.Root, rel) != nil }

// Others returns the paths of the files that the walk met below the same root and that fit.
func (f *File) Others(fits func(rel string) bool) []string {
	var out []string
	for _, o := range f.r.walk.files {
		if o.root == f.f.root && o.standing != excluded && fits(o.rel) {
			out = append(out, o.rel)
		}
	}
	return out
}

// OpenOther opens another file below the same root, and returns its size.
func (f *File) OpenOther(rel string) (*os.File, int64, error) {
	h, info, err := f.f.root.open(rel)
	if err != nil {
		return nil, 0, err
	}
	return h, info.Size(), nil
}

// Place says that everything up to here was brought and that state is what is needed to
// go on from it. It is asked for when the slice is large enough to be closed.
func (f *File) Place(ctx context.Context, state func() any) error {
	if !f.r.due() {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f.e.State = encodeState(state())
	open := *f.e
	open.Open = true
	f.r.keep(f.f, &open)
	return f.r.commit(ctx)
}

// Read counts bytes that were read, so that a slice does not grow too large.
func (f *File) Read(n int64) { f.r.slice.bytes += n }

// Gap declares a part of the file as missing, by a name that stays the same whenever the
// file is read. One that is retryable is settled by Recovered.
func (f *File) Gap(part string, reason protocol.Reason, retryable bool, offset, length int64) {
	f.r.cur.skip(f.Store.Name, string(reason), 1)
	f.r.gap(f.f, reason, retryable, f.partKey(part), offset, length)
}

// Recovered reports that a part of the file was read, which settles a gap of that part.
func (f *File) Recovered(part string) {
	f.r.slice.out = append(f.r.slice.out, emission{stream: f.Store.Streams[0], recovered: f.partKey(part)})
}

// partKey is the key of a part in gaps, whatever its name is made of.
func (f *File) partKey(part string) string { return f.f.key() + "@" + hashOf([]byte(part)) }

// Received reports whether the content of that digest was read whole, under whatever name.
func (f *File) Received(digest string) bool {
	return slices.Contains(f.r.steady.Receipts, digest) || f.r.history != nil && slices.Contains(f.r.history.Receipts, digest)
}

// Receive notes that content as read whole. It holds once the slice is closed.
func (f *File) Receive(digest string) { f.r.cur.receive(digest) }

// Say tells whoever watches what is being done.
func (f *File) Say(ctx context.Context, words string) error {
	if err := f.r.f.Say(ctx, protocol.Progress{Stream: f.Store.Streams[0], Message: words}); err != nil {
		return &sendError{err}
	}
	return nil
}

// Sample returns the sample by which content of a kind is compared with what the connector knows of it.
func (f *File) Sample(kind string, streams []string) *connectorkit.Sample {
	return f.r.f.Sample(kind, streams)
}

// Now is when the tree was looked at.
func (f *File) Now() time.Time { return f.r.began }

func (r *reader) file(f *found, e *entry) *File {
	return &File{
		Store: f.store, Root: f.root.Name, Rel: f.rel, Path: filepath.Join(f.root.base(), filepath.FromSlash(f.rel)), ID: f.id,
		Size: f.size, Modified: time.Unix(0, f.mod).UTC(), Changed: time.Unix(0, f.change).UTC(), r: r, f: f, e: e,
	}
}

// base is the folder that paths of the tree are below.
func (t *tree) base() string {
	if t.file {
		return filepath.Dir(t.real)
	}
	return t.real
}

func (r *reader) readWhole(f *found, e *entry) error {
	h, info, err := f.root.open(f.rel)
	if err != nil {
		return err
	}
	defer h.Close()
	limit := f.store.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	content, err := io.ReadAll(io.LimitReader(h, limit))
	if err != nil {
		return err
	}
	file := r.file(f, e)
	file.Size, file.Cut = info.Size(), info.Size() > limit
	r.slice.bytes += int64(len(content))
	if f.entry != nil {
		e.State = f.entry.State
	}
	if sample := r.f.Sample(f.store.Name, f.store.Streams); sample.Due() {
		sample.Content(path.Base(f.rel), content, !file.Cut)
	}
	if err := f.store.Whole(file, content); err != nil {
		return errors.Join(errDamaged, err)
	}
	e.Size, e.Change, e.Offset = info.Size(), changed(info), info.Size()
	return nil
}

// State is what SetState kept of the file when it was last read; nil when nothing was.
func (f *File) State() jsontext.Value { return f.e.State }

// SetState keeps something small for the next time that the file is read.
func (f *File) SetState(v any) { f.e.State = encodeState(v) }

func (r *reader) readOpen(ctx context.Context, f *found, e *entry) error {
	if err := r.settle(ctx, f); err != nil {
		return err
	}
	h, info, err := f.root.open(f.rel)
	if err != nil {
		return err
	}
	defer h.Close()
	e.Size, e.Change = info.Size(), max(changed(info), f.change)
	f.size = e.Size
	if f.entry != nil {
		e.State = f.entry.State
	}
	if err := f.store.Open(ctx, r.file(f, e), h, e.State); err != nil {
		return err
	}
	e.Offset = f.size
	return nil
}

// settleLimit is how long a run waits for a file that is being written.
const settleLimit = time.Minute

// settle waits until a file has not changed for as long as its store wants. One that keeps
// changing is left for a later pass.
func (r *reader) settle(ctx context.Context, f *found) error {
	began := r.f.Now()
	for f.store.Settle > 0 {
		before, err := f.root.dir.Stat(filepath.FromSlash(f.rel))
		if err != nil {
			return err
		}
		age := r.f.Now().Sub(before.ModTime())
		if age >= f.store.Settle {
			return nil
		}
		if r.f.Now().Sub(began) >= settleLimit {
			return ErrMoved
		}
		words := "waiting until " + filepath.Base(f.rel) + " is written whole"
		if err := r.f.Say(ctx, protocol.Progress{Stream: f.store.Streams[0], Message: words}); err != nil {
			return &sendError{err}
		}
		select {
		case <-time.After(min(f.store.Settle, f.store.Settle-age)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		after, err := f.root.dir.Stat(filepath.FromSlash(f.rel))
		if err != nil {
			return err
		}
		if after.Size() == before.Size() && after.ModTime().Equal(before.ModTime()) {
			return nil // a time in the future says nothing; that nothing changed does
		}
	}
	return nil
}

func (r *reader) readLines(ctx context.Context, f *found, e *entry) error {
	h, info, err := r.openForm(ctx, f)
	if err != nil {
		return err
	}
	defer h.Close()
	e.Size, e.Change = info.Size(), max(changed(info), f.change)
	var magic [4]byte
	n, _ := h.ReadAt(magic[:], 0)
	if n == 4 && bytes.Equal(magic[:], zstdMagic) {
		return r.readCompressed(ctx, f, e, h)
	}
	start := int64(0)
	if old := f.entry; old != nil && old.resumable() && e.Size >= old.Offset && r.hashAt(h, 0, min(probe, old.Offset)) == old.Head &&
		r.hashAt(h, max(0, old.Offset-probe), min(probe, old.Offset)) == old.Tail {
		start, e.State = old.Offset, old.State
		e.Torn = old.Torn && e.Size == old.Size
	}
	src := &content{
		Reader: io.NewSectionReader(h, start, e.Size-start),
		hash:   func(from, n int64) string { return r.hashAt(h, from, n) },
		at: func(offset, length int64) ([]byte, error) {
			b := make([]byte, length)
			_, err := h.ReadAt(b, offset)
			return trim(bytes.TrimSuffix(b, []byte("\n"))), err
		},
		check: func() error {
			now, err := h.Stat()
			if err != nil {
				return err
			}
			at, err := os.Stat(filepath.Join(f.root.base(), filepath.FromSlash(f.rel)))
			if now.Size() < e.Size || err == nil && !os.SameFile(now, at) {
				return ErrMoved
			}
			return nil
		},
	}
	return r.scan(ctx, f, e, src, start)
}

const (
	compressedEnding = ".zst"
	formTries        = 3
	formWait         = 50 * time.Millisecond
)

// openForm opens a file that may be changing between its plain and its compressed form.
func (r *reader) openForm(ctx context.Context, f *found) (*os.File, fs.FileInfo, error) {
	h, info, err := f.root.open(f.rel)
	other, compressed := strings.CutSuffix(f.rel, compressedEnding)
	if !compressed {
		other += compressedEnding
	}
	for try := 0; f.store.Compressed && try < formTries && errors.Is(err, fs.ErrNotExist); try++ {
		if h, info, err = f.root.open(other); err == nil {
			break
		}
		select {
		case <-time.After(formWait):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		h, info, err = f.root.open(f.rel)
	}
	return h, info, err
}

// resumable reports whether a file can be read on from the entry.
func (e *entry) resumable() bool { return e.Offset > 0 && e.Head != "" && e.Tail != "" }

// content is what lines are read from, and what is known of it.
type content struct {
	io.Reader
	hash  func(from, n int64) string
	at    func(offset, length int64) ([]byte, error) // nil when nothing can be read twice
	check func() error
}

// hashAt is a short hash of a piece of a file, of at most probe bytes; empty when it cannot be read.
func (r *reader) hashAt(h io.ReaderAt, from, n int64) string {
	if r.probed == nil {
		r.probed = make([]byte, probe)
	}
	if _, err := h.ReadAt(r.probed[:n], from); err != nil {
		return ""
	}
	return hashOf(r.probed[:n])
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// IDs are those of all files of the walk that have one.
func (f *File) IDs() []string {
	var list []string
	for _, o := range f.r.walk.files {
		if o.id != "" {
			list = append(list, o.id)
		}
	}
	return list
}
