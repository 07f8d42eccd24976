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
	sliceBytes   = 4 << 20
	sliceRecords = 1000
	sliceTime    = 5 * time.Second
	// recent is what counts as new; older files are history.
	recent = 7 * 24 * time.Hour
	// unfinished is how old a file is whose last line nobody will finish.
	unfinished = 7 * 24 * time.Hour
	// unsettled is how close to the look at a file a change may be so that another one of the
	// same time and size is possible.
	unsettled = 2 * time.Second
	// historyTime is how long history is read before new files are looked for again.
	historyTime = 30 * time.Second
)

// Reasons of gaps.
const (
	ReasonUnreadable protocol.Reason = "file_unreadable"
	ReasonVanished   protocol.Reason = "file_vanished"
	ReasonDamaged    protocol.Reason = "file_damaged"
	ReasonLineLong   protocol.Reason = "line_too_long"
	ReasonTorn       protocol.Reason = "truncated_line"
	ReasonMalformed  protocol.Reason = "malformed_line"
)

// reader is one run over a source.
type reader struct {
	src      *Source
	f        *connectorkit.Push
	carrier  string
	selected map[string]bool
	walk     *walk
	began    time.Time // of the walk
	steady   *cursor
	history  *cursor // nil when history is read

	cur    *cursor // the one at work
	limit  int     // of its entries
	slice  slice
	lines  lineBuffer
	probed []byte // memory for what is hashed
	kept   int64  // how often the source's memory was kept

	accounts int // of single files, that were written
}

func newReader(s *Source, f *connectorkit.Push) *reader {
	r := &reader{src: s, f: f, selected: map[string]bool{}}
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

var errNothing = errors.New("no file is of this source")

var errNoRoot = errors.New("none of the folders is there")

// collect is one pass over everything, and history as far as the run lasts.
func (r *reader) collect(ctx context.Context) error {
	streams := slices.DeleteFunc(slices.Sorted(slices.Values(r.f.Selected())), r.f.Narrowed)
	r.steady = cursorOf(r.f.Stored(r.carrier), streams, r.src.Settings, r.beginsAnew())
	fresh := r.steady.Watermark == 0
	if fresh {
		r.steady.From = r.f.Now().Add(-recent).UnixNano()
		r.steady.Watermark = r.steady.From
	}
	if r.steady.From != 0 {
		r.history = &cursor{V: version, Streams: streams, Settings: r.src.Settings}
		if !fresh {
			r.history = cursorOf(r.f.CatchUp(r.carrier), streams, r.src.Settings, false)
		}
		r.history.Until = r.steady.From
	}
	r.recall()
	if fresh && !r.f.RecoveryOnly() {
		if err := r.join(ctx); err != nil {
			return err
		}
	}
	for {
		if err := r.look(ctx); err != nil {
			return err
		}
		if fresh && r.src.Empty != "" && !slices.ContainsFunc(r.walk.files, func(f *found) bool { return f.store.reads() }) {
			defer r.walk.close()
			return &connectorkit.Error{Class: connectorkit.NotFound, OwnerMessage: r.src.Empty, Err: errNothing}
		}
		if err := r.pass(ctx, r.steady, maxEntries, time.Time{}); err != nil {
			return err
		}
		if r.history == nil || r.f.RecoveryOnly() || r.f.HistoryWaits() {
			break
		}
		if err := r.pass(ctx, r.history, maxHistory, r.f.Now().Add(historyTime)); err != nil {
			return err
		}
		if !r.left(r.history) {
			if err := r.historyRead(ctx); err != nil {
				return err
			}
			if !r.src.LastWins {
				break
			}
		}
		r.walk.close()
	}
	defer r.walk.close()
	return r.conclude(ctx)
}

// beginsAnew reports whether a stream has no bookmark, because another selection of it was in force, although the
// carrier may have one: then every file is read again.
func (r *reader) beginsAnew() bool {
	return slices.ContainsFunc(r.f.Selected(), func(name string) bool {
		return name != r.carrier && name != CoverageStream && len(r.f.Stored(name)) == 0
	})
}

// join writes for every stream a bookmark that refers to the carrier's, which counts for it from then on. A
// bookmark that the carrier has from before is replaced first.
func (r *reader) join(ctx context.Context) error {
	if len(r.f.CatchUp(r.carrier)) > 0 {
		if err := r.f.StateCatchUp(ctx, r.carrier, r.history); err != nil {
			return err
		}
	}
	if len(r.f.Stored(r.carrier)) > 0 {
		r.remember(r.steady)
		if err := r.f.State(ctx, r.carrier, r.steady); err != nil {
			return err
		}
	}
	for _, name := range r.f.Selected() {
		if name == r.carrier || name == CoverageStream {
			continue
		}
		if err := r.f.State(ctx, name, map[string]any{"v": version, "with": r.carrier}); err != nil {
			return err
		}
	}
	return nil
}

// recall gives the source its memory back.
func (r *reader) recall() {
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

// remember keeps the source's memory with a bookmark.
func (r *reader) remember(c *cursor) {
	if r.src.Memory == nil {
		return
	}
	r.kept++
	c.Memory, c.Kept = encodeState(r.src.Memory.Keep()), r.kept
}

// whole reports whether the walk met everything that is there.
func (r *reader) whole() bool {
	return r.walk.open() && r.history == nil &&
		!slices.ContainsFunc(r.walk.files, func(f *found) bool { return f.standing == waiting || f.standing == unreadable })
}

func (r *reader) look(ctx context.Context) error {
	r.began = r.f.Now()
	folders, err := r.f.Folders()
	if err != nil {
		return err
	}
	walk, err := r.src.look(ctx, folders)
	if err != nil {
		return err
	}
	r.walk = walk
	if r.src.Memory != nil {
		r.src.Memory.Walked(func(root, rel string) bool { return walk.at(root, rel) != nil })
	}
	if slices.IndexFunc(walk.trees, func(t *tree) bool { return t.dir != nil }) < 0 {
		if len(folders) > 0 {
			return &connectorkit.Error{Class: connectorkit.NotFound,
				OwnerMessage: "none of the folders that the owner named holds anything of this source", Err: errNoRoot}
		}
		words := "the folder with the data is not there"
		if slices.ContainsFunc(walk.trees, (*tree).denied) {
			words = "the folder with the data may not be read: " + permissionNext(runtime.GOOS)
		}
		return &connectorkit.Error{Class: connectorkit.Unavailable, OwnerMessage: words, Err: errNoRoot}
	}
	return nil
}

// historyRead joins both bookmarks. When later files repeat records of earlier ones, those
// that were read first are read once more, in their order.
func (r *reader) historyRead(ctx context.Context) error {
	done := r.history
	r.history = nil
	from := r.steady.From
	if r.src.LastWins && len(r.steady.Files) > 0 && done.Watermark != 0 {
		r.steady.Files, r.steady.Settled, r.steady.Receipts, r.steady.Watermark = nil, nil, nil, from
	}
	r.steady.From = 0
	r.steady.merge(done)
	r.remember(r.steady)
	if err := r.f.State(ctx, r.carrier, r.steady); err != nil {
		return err
	}
	return r.f.StateCatchUp(ctx, r.carrier, nil)
}

// pass reads what a bookmark has not read yet, in the order of change.
func (r *reader) pass(ctx context.Context, c *cursor, limit int, until time.Time) error {
	r.cur, r.limit = c, limit
	r.slice.since = r.f.Now()
	todo := r.plan()
	for _, f := range todo {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !until.IsZero() && !r.f.Now().Before(until) {
			break
		}
		if err := r.read(ctx, f); err != nil {
			return err
		}
		if r.due() {
			if err := r.commit(ctx); err != nil {
				return err
			}
		}
	}
	return r.commit(ctx)
}

// read reads one file as its store says.
func (r *reader) read(ctx context.Context, f *found) error {
	r.slice.file = len(r.slice.out)
	e := &entry{ID: f.id, Path: f.path, Size: f.size, Change: f.change}
	var err error
	switch {
	case !f.store.reads():
		e.Offset = f.size
	case f.store.Lines != nil:
		err = r.readLines(ctx, f, e)
	case f.store.Whole != nil:
		err = r.readWhole(f, e)
	default:
		err = r.readOpen(ctx, f, e)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var sent *sendError
	if errors.As(err, &sent) {
		return sent
	}
	if err != nil {
		r.refused(f, e, err)
		return nil
	}
	r.done(f, e)
	return nil
}
