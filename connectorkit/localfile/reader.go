package localfile

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	maxSliceBytes = 4 << 20
	sliceRecords  = 1000
	maxSliceTime  = 5 * time.Second
	// recentPeriod is what counts as new; older files are history.
	recentPeriod = 7 * 24 * time.Hour
	// unfinishedAge is the age from which an incomplete last line of a file stays incomplete.
	unfinishedAge = 7 * 24 * time.Hour
	// unsettledPeriod is how close to the look at a file a change may be so that another one of the
	// same time and size is possible.
	unsettledPeriod = 2 * time.Second
	// historyPeriod is how long history is read before new files are looked for again.
	historyPeriod = 30 * time.Second
)

// Reasons of gaps.
const (
	ReasonUnreadable    protocol.Reason = "file_unreadable"
	ReasonVanished      protocol.Reason = "file_vanished"
	ReasonDamaged       protocol.Reason = "file_damaged"
	ReasonLineLong      protocol.Reason = "line_too_long"
	ReasonTruncatedLine protocol.Reason = "truncated_line"
	ReasonMalformed     protocol.Reason = "malformed_line"
)

// sourceReader is one run over a source.
type sourceReader struct {
	src      *Source
	f        *connectorkit.Push
	carrier  string
	selected map[string]bool
	walk     *treeWalk
	began    time.Time // of the walk
	steady   *fileCursor
	history  *fileCursor // nil when history is read

	cur    *fileCursor // the one at work
	limit  int         // of its entries
	slice  pendingSlice
	lines  lineBuffer
	probed []byte // memory for what is hashed
	kept   int64  // how often the source's memory was kept

	accounts int // of single files, that were written
}

func newSourceReader(s *Source, f *connectorkit.Push) *sourceReader {
	r := &sourceReader{src: s, f: f, selected: map[string]bool{}}
	for _, name := range f.Selected() {
		r.selected[name] = true
	}
	for _, name := range append(slices.Clone(s.Streams), CoverageStream) {
		if r.carrier == "" && r.selected[name] {
			r.carrier = name
		}
	}
	return r
}

var errNoMatchingFile = errors.New("no file is of this source")

var errNoRootFolder = errors.New("none of the folders is there")

// collectPass is one pass over everything, and history as far as the run lasts.
func (r *sourceReader) collectPass(ctx context.Context) error {
	streams := slices.DeleteFunc(slices.Sorted(slices.Values(r.f.Selected())), r.f.Narrowed)
	r.steady = readCursor(r.f.Stored(r.carrier), streams, r.src.Settings, r.hasLostBookmark())
	fresh := r.steady.Watermark == 0
	if fresh {
		r.steady.From = r.f.Now().Add(-recentPeriod).UnixNano()
		r.steady.Watermark = r.steady.From
	}
	if r.steady.From != 0 {
		r.history = &fileCursor{V: cursorVersion, Streams: streams, Settings: r.src.Settings}
		if !fresh {
			r.history = readCursor(r.f.CatchUp(r.carrier), streams, r.src.Settings, false)
		}
		r.history.Until = r.steady.From
	}
	r.loadMemory()
	if fresh && !r.f.RecoveryOnly() {
		if err := r.joinBookmarks(ctx); err != nil {
			return err
		}
	}
	for {
		if err := r.walkRoots(ctx); err != nil {
			return err
		}
		if fresh && r.src.Empty != "" &&
			!slices.ContainsFunc(r.walk.files, func(f *foundFile) bool { return f.store.readsContent() }) {
			defer r.walk.closeTrees()
			return &connectorkit.Error{Class: connectorkit.NotFound, OwnerMessage: r.src.Empty, Err: errNoMatchingFile}
		}
		if err := r.readPending(ctx, r.steady, maxCursorEntries, time.Time{}); err != nil {
			return err
		}
		if r.history == nil || r.f.RecoveryOnly() || r.f.HistoryWaits() {
			break
		}
		if err := r.readPending(ctx, r.history, maxHistoryEntries, r.f.Now().Add(historyPeriod)); err != nil {
			return err
		}
		if !r.hasUnreadFiles(r.history) {
			if err := r.finishHistory(ctx); err != nil {
				return err
			}
			if !r.src.LastWins {
				break
			}
		}
		r.walk.closeTrees()
	}
	defer r.walk.closeTrees()
	return r.concludeRun(ctx)
}

// hasLostBookmark reports whether a stream has no bookmark, because another selection of it was in force, although the
// carrier may have one: then every file is read again.
func (r *sourceReader) hasLostBookmark() bool {
	return slices.ContainsFunc(r.f.Selected(), func(name string) bool {
		return name != r.carrier && name != CoverageStream && len(r.f.Stored(name)) == 0
	})
}

// joinBookmarks writes for every stream a bookmark that refers to the carrier's, which counts for it from then on. A
// bookmark that the carrier has from before is replaced first.
func (r *sourceReader) joinBookmarks(ctx context.Context) error {
	if len(r.f.CatchUp(r.carrier)) > 0 {
		if err := r.f.StateCatchUp(ctx, r.carrier, r.history); err != nil {
			return err
		}
	}
	if len(r.f.Stored(r.carrier)) > 0 {
		r.storeMemory(r.steady)
		if err := r.f.State(ctx, r.carrier, r.steady); err != nil {
			return err
		}
	}
	for _, name := range r.f.Selected() {
		if name == r.carrier || name == CoverageStream {
			continue
		}
		if err := r.f.State(ctx, name, map[string]any{"v": cursorVersion, "with": r.carrier}); err != nil {
			return err
		}
	}
	return nil
}

// loadMemory loads the source's memory from the bookmark.
func (r *sourceReader) loadMemory() {
	if r.src.Memory == nil {
		return
	}
	last := r.steady
	if r.history != nil && r.history.Kept > last.Kept {
		last = r.history
	}
	r.kept = last.Kept
	r.src.Memory.Load(last.Memory)
}

// storeMemory keeps the source's memory with a bookmark.
func (r *sourceReader) storeMemory(c *fileCursor) {
	if r.src.Memory == nil {
		return
	}
	r.kept++
	c.Memory, c.Kept = encodeState(r.src.Memory.Keep()), r.kept
}

// walkIsComplete reports whether the walk met everything that is there.
func (r *sourceReader) walkIsComplete() bool {
	return r.walk.allFoldersListed() && r.history == nil &&
		!slices.ContainsFunc(r.walk.files, func(f *foundFile) bool {
			return f.standing == fileWaiting ||
				f.standing == fileUnreadable
		})
}

func (r *sourceReader) walkRoots(ctx context.Context) error {
	r.began = r.f.Now()
	folders, err := r.f.Folders()
	if err != nil {
		return err
	}
	walk, err := r.src.walkRoots(ctx, folders)
	if err != nil {
		return err
	}
	r.walk = walk
	if r.src.Memory != nil {
		r.src.Memory.Walked(func(root, rel string) bool { return walk.fileAt(root, rel) != nil })
	}
	if slices.IndexFunc(walk.trees, func(t *rootTree) bool { return t.dir != nil }) < 0 {
		if len(folders) > 0 {
			return &connectorkit.Error{Class: connectorkit.NotFound,
				OwnerMessage: "none of the folders that the owner named holds anything of this source", Err: errNoRootFolder}
		}
		words := "the folder with the data is not there"
		if slices.ContainsFunc(walk.trees, (*rootTree).isDenied) {
			words = "the folder with the data may not be read: " + permissionNext(runtime.GOOS)
		}
		return &connectorkit.Error{Class: connectorkit.Unavailable, OwnerMessage: words, Err: errNoRootFolder}
	}
	return nil
}

// finishHistory joins both bookmarks. When later files repeat records of earlier ones, those
// that were read first are read once more, in their order.
func (r *sourceReader) finishHistory(ctx context.Context) error {
	done := r.history
	r.history = nil
	from := r.steady.From
	if r.src.LastWins && len(r.steady.Files) > 0 && done.Watermark != 0 {
		r.steady.Files, r.steady.Settled, r.steady.Receipts, r.steady.Watermark = nil, nil, nil, from
	}
	r.steady.From = 0
	r.steady.mergeCursor(done)
	r.storeMemory(r.steady)
	if err := r.f.State(ctx, r.carrier, r.steady); err != nil {
		return err
	}
	return r.f.StateCatchUp(ctx, r.carrier, nil)
}

// readPending reads what a bookmark has not read yet, in the order of change.
func (r *sourceReader) readPending(ctx context.Context, c *fileCursor, limit int, until time.Time) error {
	r.cur, r.limit = c, limit
	r.slice.since = r.f.Now()
	todo := r.planFiles()
	for _, f := range todo {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !until.IsZero() && !r.f.Now().Before(until) {
			break
		}
		if err := r.readFile(ctx, f); err != nil {
			return err
		}
		if r.sliceIsDue() {
			if err := r.commitSlice(ctx); err != nil {
				return err
			}
		}
	}
	return r.commitSlice(ctx)
}

// readFile reads one file with the reader of its store.
func (r *sourceReader) readFile(ctx context.Context, f *foundFile) error {
	r.slice.file = len(r.slice.out)
	e := &fileEntry{ID: f.id, Path: f.path, Size: f.size, Change: f.change}
	var err error
	switch {
	case !f.store.readsContent():
		e.Offset = f.size
	case f.store.Lines != nil:
		err = r.readLineFile(ctx, f, e)
	case f.store.Whole != nil:
		err = r.readWholeFile(f, e)
	default:
		err = r.readWithStore(ctx, f, e)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var sent *sendError
	if errors.As(err, &sent) {
		return sent
	}
	if err != nil {
		r.declareRefused(f, e, err)
		return nil
	}
	r.settleReadFile(f, e)
	return nil
}
