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
	// probeBytes is how much of a file's beginning, and before its place, must be unchanged.
	probeBytes   = 64 << 10
	defaultLimit = 1 << 20
)

// errFileDamaged means that the content cannot be decoded.
var errFileDamaged = errors.New("the file is damaged")

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
	// Cut reports that Whole got only the beginning.
	Cut bool
	// Offset and Length are where the line is that is being read.
	Offset, Length int64

	r    *sourceReader
	f    *foundFile
	e    *fileEntry
	line func(offset, length int64) ([]byte, error)
}

// Emit brings a record. It is sent when the slice that it belongs to is closed.
func (f *File) Emit(stream string, rec connectorkit.Record) {
	if f.r.selected[stream] {
		if f.f.root.Import {
			rec = rec.FromFile(f.Rel)
		}
		f.r.slice.out = append(f.r.slice.out, sliceMessage{stream: stream, rec: rec})
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
func (f *File) Skip(kind string) { f.r.cur.countSkipped(f.Store.Name, kind, 1) }

// Exists reports whether the tree held a file at that path below the same root.
func (f *File) Exists(rel string) bool { return f.r.walk.fileAt(f.Root, rel) != nil }

// Others returns the paths of the files that the walk met below the same root and that fit.
func (f *File) Others(fits func(rel string) bool) []string {
	var out []string
	for _, o := range f.r.walk.files {
		if o.root == f.f.root && o.standing != fileExcluded && fits(o.rel) {
			out = append(out, o.rel)
		}
	}
	return out
}

// OpenOther opens another file below the same root, and returns its size.
func (f *File) OpenOther(rel string) (*os.File, int64, error) {
	h, info, err := f.f.root.openFile(rel)
	if err != nil {
		return nil, 0, err
	}
	return h, info.Size(), nil
}

// Place reports that everything up to here was emitted. State returns what is needed to
// go on from it. It is asked for when the slice is large enough to be closed.
func (f *File) Place(ctx context.Context, state func() any) error {
	if !f.r.sliceIsDue() {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f.e.State = encodeState(state())
	open := *f.e
	open.Open = true
	f.r.keepEntry(f.f, &open)
	return f.r.commitSlice(ctx)
}

// Read counts bytes that were read, so that a slice does not grow too large.
func (f *File) Read(n int64) { f.r.slice.bytes += n }

// Gap declares a part of the file as missing, by a name that stays the same whenever the
// file is read. One that is retryable is settled by Recovered.
func (f *File) Gap(part string, reason protocol.Reason, retryable bool, offset, length int64) {
	f.r.cur.countSkipped(f.Store.Name, string(reason), 1)
	f.r.declareGap(f.f, reason, retryable, f.partGapKey(part), offset, length)
}

// Recovered reports that a part of the file was read, which settles a gap of that part.
func (f *File) Recovered(part string) {
	f.r.slice.out = append(f.r.slice.out, sliceMessage{stream: f.Store.Streams[0], recovered: f.partGapKey(part)})
}

// partGapKey is the key of a part in gaps, whatever its name is made of.
func (f *File) partGapKey(part string) string { return f.f.fileKey() + "@" + shortHash([]byte(part)) }

// Received reports whether the content of that digest was read whole, under whatever name.
func (f *File) Received(digest string) bool {
	return slices.Contains(f.r.steady.Receipts, digest) || f.r.history != nil &&
		slices.Contains(f.r.history.Receipts, digest)
}

// Receive notes that content as read whole. It holds once the slice is closed.
func (f *File) Receive(digest string) { f.r.cur.addReceipt(digest) }

// ReportProgress sends a progress message for the owner.
func (f *File) ReportProgress(ctx context.Context, words string) error {
	if err := f.r.f.SendProgress(ctx, protocol.Progress{Stream: f.Store.Streams[0], Message: words}); err != nil {
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

func (r *sourceReader) openedFile(f *foundFile, e *fileEntry) *File {
	return &File{
		Store: f.store, Root: f.root.Name, Rel: f.rel, Path: filepath.Join(f.root.baseFolder(), filepath.FromSlash(f.rel)),
		ID:   f.id,
		Size: f.size, Modified: time.Unix(0, f.mod).UTC(), Changed: time.Unix(0, f.change).UTC(), r: r, f: f, e: e,
	}
}

// baseFolder is the folder that paths of the tree are below.
func (t *rootTree) baseFolder() string {
	if t.file {
		return filepath.Dir(t.real)
	}
	return t.real
}

func (r *sourceReader) readWholeFile(f *foundFile, e *fileEntry) error {
	h, info, err := f.root.openFile(f.rel)
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
	file := r.openedFile(f, e)
	file.Size, file.Cut = info.Size(), info.Size() > limit
	r.slice.bytes += int64(len(content))
	if f.entry != nil {
		e.State = f.entry.State
	}
	if sample := r.f.Sample(f.store.Name, f.store.Streams); sample.Due() {
		sample.Content(path.Base(f.rel), content, !file.Cut)
	}
	if err := f.store.Whole(file, content); err != nil {
		return errors.Join(errFileDamaged, err)
	}
	e.Size, e.Change, e.Offset = info.Size(), changeTime(info), info.Size()
	return nil
}

// State is what SetState kept of the file when it was last read; nil when nothing was.
func (f *File) State() jsontext.Value { return f.e.State }

// SetState keeps something small for the next time that the file is read.
func (f *File) SetState(v any) { f.e.State = encodeState(v) }

func (r *sourceReader) readWithStore(ctx context.Context, f *foundFile, e *fileEntry) error {
	if err := r.waitUntilSettled(ctx, f); err != nil {
		return err
	}
	h, info, err := f.root.openFile(f.rel)
	if err != nil {
		return err
	}
	defer h.Close()
	e.Size, e.Change = info.Size(), max(changeTime(info), f.change)
	f.size = e.Size
	if f.entry != nil {
		e.State = f.entry.State
	}
	if err := f.store.Open(ctx, r.openedFile(f, e), h, e.State); err != nil {
		return err
	}
	e.Offset = f.size
	return nil
}

// settleLimit is how long a run waits for a file that is being written.
const settleLimit = time.Minute

// waitUntilSettled waits until a file has not changed for as long as its store wants. One that keeps
// changing is left for a later pass.
func (r *sourceReader) waitUntilSettled(ctx context.Context, f *foundFile) error {
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
			return ErrFileChanged
		}
		words := "waiting until " + filepath.Base(f.rel) + " is written whole"
		if err := r.f.SendProgress(ctx, protocol.Progress{Stream: f.store.Streams[0], Message: words}); err != nil {
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
			return nil // a time in the future proves nothing, but an unchanged file does
		}
	}
	return nil
}

func (r *sourceReader) readLineFile(ctx context.Context, f *foundFile, e *fileEntry) error {
	h, info, err := r.openEitherForm(ctx, f)
	if err != nil {
		return err
	}
	defer h.Close()
	e.Size, e.Change = info.Size(), max(changeTime(info), f.change)
	var magic [4]byte
	n, _ := h.ReadAt(magic[:], 0)
	if n == 4 && bytes.Equal(magic[:], zstdMagic) {
		return r.readCompressed(ctx, f, e, h)
	}
	start := int64(0)
	if old := f.entry; old != nil && old.canResume() && e.Size >= old.Offset &&
		r.hashPiece(h, 0, min(probeBytes, old.Offset)) == old.Head &&
		r.hashPiece(h, max(0, old.Offset-probeBytes), min(probeBytes, old.Offset)) == old.Tail {
		start, e.State = old.Offset, old.State
		e.Torn = old.Torn && e.Size == old.Size
	}
	src := &lineContent{
		Reader: io.NewSectionReader(h, start, e.Size-start),
		hash:   func(from, n int64) string { return r.hashPiece(h, from, n) },
		at: func(offset, length int64) ([]byte, error) {
			b := make([]byte, length)
			_, err := h.ReadAt(b, offset)
			return trimLine(bytes.TrimSuffix(b, []byte("\n"))), err
		},
		check: func() error {
			now, err := h.Stat()
			if err != nil {
				return err
			}
			at, err := os.Stat(filepath.Join(f.root.baseFolder(), filepath.FromSlash(f.rel)))
			if now.Size() < e.Size || err == nil && !os.SameFile(now, at) {
				return ErrFileChanged
			}
			return nil
		},
	}
	return r.scanLines(ctx, f, e, src, start)
}

const (
	compressedEnding = ".zst"
	maxFormAttempts  = 3
	formRetryWait    = 50 * time.Millisecond
)

// openEitherForm opens a file that may be changing between its plain and its compressed form.
func (r *sourceReader) openEitherForm(ctx context.Context, f *foundFile) (*os.File, fs.FileInfo, error) {
	h, info, err := f.root.openFile(f.rel)
	other, compressed := strings.CutSuffix(f.rel, compressedEnding)
	if !compressed {
		other += compressedEnding
	}
	for try := 0; f.store.Compressed && try < maxFormAttempts && errors.Is(err, fs.ErrNotExist); try++ {
		if h, info, err = f.root.openFile(other); err == nil {
			break
		}
		select {
		case <-time.After(formRetryWait):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		h, info, err = f.root.openFile(f.rel)
	}
	return h, info, err
}

// canResume reports whether a file can be read on from the entry.
func (e *fileEntry) canResume() bool { return e.Offset > 0 && e.Head != "" && e.Tail != "" }

// lineContent is what lines are read from, and what is known of it.
type lineContent struct {
	io.Reader
	hash  func(from, n int64) string
	at    func(offset, length int64) ([]byte, error) // nil when nothing can be read twice
	check func() error
}

// hashPiece is a short hash of a piece of a file, of at most probe bytes; empty when it cannot be read.
func (r *sourceReader) hashPiece(h io.ReaderAt, from, n int64) string {
	if r.probed == nil {
		r.probed = make([]byte, probeBytes)
	}
	if _, err := h.ReadAt(r.probed[:n], from); err != nil {
		return ""
	}
	return shortHash(r.probed[:n])
}

func shortHash(b []byte) string {
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
