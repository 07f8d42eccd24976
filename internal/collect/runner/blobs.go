package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// Blobs keeps the files that records name, by their content.
type Blobs interface {
	// Put makes durable what r gives, and names it. It fails with r's own error.
	Put(ctx context.Context, r io.Reader) (sha256 string, bytes int64, err error)
}

// BlobLimits bound the files of a run, in bytes. Zero means the default, and less none.
type BlobLimits struct {
	Each int64 // a larger one is left out, and told
	Run  int64 // what exceeds it waits for a later run
	Room int64 // of all that is kept; what exceeds it waits until there is room
}

// Defaults: what providers of mail take as an attachment, and what one run may bring to a small disk.
const (
	DefaultBlobBytes    = 25 << 20
	DefaultRunBlobBytes = 2 << 30
)

func (l BlobLimits) withDefaults() BlobLimits {
	if l.Each == 0 {
		l.Each = DefaultBlobBytes
	}
	if l.Run == 0 {
		l.Run = DefaultRunBlobBytes
	}
	if l.Room == 0 {
		l.Room = -1
	}
	return l
}

// Why a file is not kept.
var (
	errBlobTooLarge = errors.New("the file is larger than one may be")
	errBlobRunFull  = errors.New("the files of this run are as many as it may bring")
	errBlobNoRoom   = errors.New("there is no room for more files")
	errBlobKeeping  = errors.New("the file could not be kept")
)

// workdir is where a connector leaves its files. Paths lead to files below it and nowhere else.
type workdir struct {
	dir  string
	root *os.Root // opened with the first file
}

// open opens a file below the folder, through no link. One that is none, such as a pipe, is refused.
func (w *workdir) open(path string) (*os.File, error) {
	if !filepath.IsLocal(path) || strings.ContainsAny(path, "\\\x00") {
		return nil, errors.New("the path leads out of the working directory")
	}
	if w.root == nil {
		root, err := os.OpenRoot(w.dir)
		if err != nil {
			return nil, err
		}
		w.root = root
	}
	path = filepath.Clean(filepath.FromSlash(path))
	var last fs.FileInfo
	for at := 0; at < len(path); {
		next := strings.IndexByte(path[at:], filepath.Separator)
		end := len(path)
		if next >= 0 {
			end = at + next
		}
		info, err := w.root.Lstat(path[:end])
		if err != nil {
			return nil, err
		}
		if end < len(path) && !info.IsDir() || end == len(path) && !info.Mode().IsRegular() {
			return nil, errors.New("the path leads through a link, or to no file")
		}
		last, at = info, end+1
	}
	// A pipe that takes the file's place meanwhile must not make us wait.
	f, err := w.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(info, last) || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, errors.New("the file was replaced while it was opened")
	}
	return f, nil
}

// remove takes away what is kept elsewhere now.
func (w *workdir) remove(path string) {
	if w.root != nil {
		_ = w.root.Remove(filepath.Clean(filepath.FromSlash(path))) // the folder goes as a whole at the end
	}
}

func (w *workdir) close() {
	if w.root != nil {
		_ = w.root.Close()
	}
}

// blobs keeps the files of a record. What is not kept is declared: the record goes without it.
// The files are durable before the record can be: invariant 25.
func (s *session) blobs(ctx context.Context, st *stream, m *protocol.Record) ([]slice.Blob, error) {
	if m.Blobs == nil {
		return nil, nil
	}
	out := make([]slice.Blob, 0, len(m.Blobs))
	for i := range m.Blobs {
		named := &m.Blobs[i]
		kept, err := s.keepBlob(ctx, named)
		switch {
		case err == nil:
			out = append(out, kept)
		case errors.Is(err, errBlobKeeping):
			return nil, s.storageFailed(err)
		case errors.Is(err, errBlobTooLarge):
			st.tooLarge++
		default:
			if err := s.blobGap(st, m.Key, err); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (s *session) keepBlob(ctx context.Context, b *protocol.Blob) (slice.Blob, error) {
	out := slice.Blob{Field: b.Field, MIME: MediaType(b.MIME), Name: FileName(b.Name), Path: b.Path}
	if s.spec.Blobs == nil {
		return out, errBlobNoRoom
	}
	f, err := s.workdir.open(b.Path)
	if err != nil {
		return out, err
	}
	defer func() { _ = f.Close() }()
	limits := s.blobLimits
	allowed := []allowance{{limits.Each, errBlobTooLarge}, {limits.Run, errBlobRunFull}, {limits.Room, errBlobNoRoom}}
	allowed[1].less(s.blobBytes)
	allowed[2].less(s.blobBytes)
	r := &boundedReader{r: f, allowed: allowed, size: -1}
	if info, err := f.Stat(); err == nil {
		r.size = info.Size()
	}
	if err := r.exceeded(max(r.size, 0)); err != nil {
		return out, err
	}
	out.SHA256, out.Bytes, err = s.spec.Blobs.Put(ctx, r)
	switch {
	case r.err != nil: // of the connector's file
		return out, r.err
	case err != nil:
		return out, fmt.Errorf("%w: %w", errBlobKeeping, err)
	}
	s.blobBytes += out.Bytes
	return out, nil
}

// allowance is how many bytes may come, and what it means when there are more. A negative one
// bounds nothing.
type allowance struct {
	bytes int64
	over  error
}

func (a *allowance) less(used int64) {
	if a.bytes >= 0 {
		a.bytes = max(a.bytes-used, 0)
	}
}

// boundedReader reads a file that may still grow, and keeps the error that ended it.
type boundedReader struct {
	r       io.Reader
	allowed []allowance
	size    int64
	read    int64
	err     error
}

func (b *boundedReader) exceeded(n int64) error {
	for _, a := range b.allowed {
		if a.bytes >= 0 && n > a.bytes {
			return a.over
		}
	}
	return nil
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.read += int64(n)
	if over := b.exceeded(b.read); over != nil {
		n, err = 0, over
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// blobGap declares that a file of a record is missing, so that a later run brings it.
func (s *session) blobGap(st *stream, key string, why error) error {
	g := slice.Gap{Stream: st.name, RecordKey: key, Reason: protocol.ReasonBlobFailed, Retryable: true}
	class := string(protocol.ReasonBlobFailed)
	switch {
	case errors.Is(why, errBlobRunFull): // RT-17: nothing failed
		g.Reason, class = protocol.ReasonRetryExhausted, protocol.ClassRunCap
	case errors.Is(why, errBlobNoRoom):
		g.Reason, class = protocol.ReasonBlobNoRoom, string(protocol.ReasonBlobNoRoom)
	}
	g.ParentStream, _ = s.parentOf(st, &protocol.DetailGap{Stream: st.name}) // none where several are possible
	said, err := json.Marshal(map[string]any{"class": class}, json.Deterministic(true))
	if err != nil {
		return err
	}
	g.LastError = sanitize(s.redactor.Load(), said)
	if st.refused == nil {
		st.rejected, st.refused = map[protocol.Reason]int64{}, map[string]protocol.Reason{}
	}
	st.refused[key] = g.Reason // a gap that stood for the record is not closed by it
	s.cur.addGap(g, st.slice)
	st.gaps++
	s.gapCount++
	s.countGap(&protocol.DetailGap{Stream: st.name, Reason: g.Reason, Detail: &protocol.GapDetail{Class: class}})
	return nil
}

// knownTooLarge tells how many files were left out because of their size, by stream.
func (s *session) knownTooLarge() (out []KnownGap) {
	for _, st := range s.order {
		if st.tooLarge > 0 {
			out = append(out, KnownGap{Kind: protocol.KnownSkipResult, Reason: string(protocol.ReasonBlobTooLarge), Severity: protocol.SeverityInformational, Stream: st.name,
				Count: st.tooLarge, Message: protocol.OwnerCopy(protocol.ReasonBlobTooLarge, ""), RecoveryHint: protocol.RecoveryHint{Action: protocol.ManualActionRequired}})
		}
	}
	return out
}

// unknownMedia is the type of a file whose type is not told, or told wrongly.
const unknownMedia = "application/octet-stream"

// MediaType is what is kept of a type that a connector names: the type alone, if it is one.
func MediaType(said string) string {
	t, _, err := mime.ParseMediaType(said)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !strings.Contains(t, "/") || len(t) > 100 {
		return unknownMedia
	}
	return t
}

const maxFileName = 200

// FileName is what is kept of a name that a connector gives: one that is a name on every system,
// and that does not look like another. Empty means none.
func FileName(said string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		case strings.ContainsRune(`/\:*?"<>|`, r):
			return '_'
		}
		return r
	}, said)
	name = strings.TrimRight(strings.TrimLeft(name, " ."), " .")
	if len(name) > maxFileName {
		ext := filepath.Ext(name)
		if len(ext) > 20 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:maxFileName-len(ext)], "") + ext
	}
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	if slices.Contains(deviceNames, stem) {
		name = "_" + name
	}
	return name
}

// deviceNames are no names of files on Windows, with whatever ending.
var deviceNames = []string{"CON", "PRN", "AUX", "NUL", "COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8", "COM9",
	"LPT1", "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9"}
