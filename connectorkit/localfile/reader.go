package localfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
	"pdpp/protocol"
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
	f        *connectorkit.Feeding
	carrier  string
	selected map[string]bool
	walk     *walk
	began    time.Time // of the walk
	steady   *cursor
	history  *cursor // nil when history is read

	cur   *cursor // the one at work
	limit int     // of its entries
	slice slice
	lines lineBuffer
	kept  int64 // how often the source's memory was kept
}

// slice is what is sent together with the next bookmark.
type slice struct {
	out   []emission
	bytes int64
	since time.Time
	ticks int
	file  int // where the emissions of the file at work begin
}

// emission is one thing to send.
type emission struct {
	stream    string
	rec       connectorkit.Record
	gap       *protocol.DetailGap
	recovered string // key of a gap
}

func newReader(s *Source, f *connectorkit.Feeding) *reader {
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
	streams := slices.Sorted(slices.Values(r.f.Selected()))
	r.steady = cursorOf(r.f.Stored(r.carrier), streams, r.src.Settings)
	fresh := r.steady.Watermark == 0
	if fresh {
		r.steady.From = r.f.Now().Add(-recent).UnixNano()
		r.steady.Watermark = r.steady.From
	}
	if r.steady.From != 0 {
		r.history = &cursor{V: version, Streams: streams, Settings: r.src.Settings}
		if !fresh {
			r.history = cursorOf(r.f.CatchUp(r.carrier), streams, r.src.Settings)
		}
		r.history.Until = r.steady.From
	}
	r.recall()
	for {
		if err := r.look(ctx); err != nil {
			return err
		}
		if fresh && r.src.Empty != "" && !slices.ContainsFunc(r.walk.files, func(f *found) bool { return f.store.reads() }) {
			defer r.walk.close()
			return &connectorkit.Error{Class: connectorkit.NotFound, Words: r.src.Empty, Err: errNothing}
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
	return len(r.walk.closed) == 0 && r.history == nil && !slices.ContainsFunc(r.walk.trees, func(t *tree) bool { return t.broken != nil || t.limits != nil }) &&
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
		r.src.Memory.Walked(func(root, rel string) bool { return walk.present[root+"\x00"+rel] != nil })
	}
	if slices.IndexFunc(walk.trees, func(t *tree) bool { return t.dir != nil }) < 0 {
		if len(folders) > 0 {
			return &connectorkit.Error{Class: connectorkit.NotFound, Words: "none of the folders that the owner named holds anything of this source", Err: errNoRoot}
		}
		words := "the folder with the data is not there"
		if slices.ContainsFunc(walk.trees, (*tree).denied) {
			words = "the folder with the data may not be read: " + permissionNext(runtime.GOOS)
		}
		return &connectorkit.Error{Class: connectorkit.Unavailable, Words: words, Err: errNoRoot}
	}
	return nil
}

// left reports whether a bookmark has files to read.
func (r *reader) left(c *cursor) bool {
	return slices.ContainsFunc(r.walk.files, func(f *found) bool { return f.standing == waiting && c.spans(f) })
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

// spans reports whether a file belongs to the bookmark.
func (c *cursor) spans(f *found) bool {
	return f.change >= c.From && (c.Until == 0 || f.change < c.Until)
}

// wanted reports whether this run collects anything of the store.
func (r *reader) wanted(s *Store) bool {
	return slices.ContainsFunc(s.Streams, func(name string) bool { return r.selected[name] })
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

// closed declares the folders that cannot be listed.
func (r *reader) closed() {
	for _, f := range r.walk.closed {
		if f.standing == unreadable && r.wanted(f.store) {
			r.gap(f, ReasonUnreadable, true, f.key(), 0, 0)
		}
	}
}

// plan decides for every file of the bookmark whether it is to be read.
func (r *reader) plan() []*found {
	c := r.cur
	held := r.heldFiles()
	byPath, byID := map[string]*entry{}, map[string]*entry{}
	for _, e := range c.Files {
		byPath[e.Path] = e
		if e.ID != "" {
			byID[e.ID] = e
		}
	}
	for _, f := range r.walk.files {
		if e := byPath[f.path]; e != nil && e.ID == f.id {
			delete(byID, f.id) // it is where it was
		}
	}
	var todo []*found
	used := map[*entry]bool{}
	sums := map[int]uint32{}
	rest := map[int][]*found{}
	add := func(f *found) {
		if !r.f.RecoveryOnly() || held[f.key()] {
			todo = append(todo, f)
		}
	}
	for _, f := range r.walk.files {
		if f.standing != waiting || !c.spans(f) {
			continue
		}
		if !f.store.reads() && f.store.Listed == "" || !r.wanted(f.store) {
			f.standing = accounted
			continue
		}
		if e := byPath[f.path]; e != nil && e.ID == f.id {
			f.entry = e
		} else if e := byID[f.id]; f.id != "" && e != nil && !used[e] {
			f.entry = e // it was moved, renamed or compressed
		}
		switch e := f.entry; {
		case e != nil:
			used[e] = true
			r.compare(f, e, held, add)
		case f.change > c.Watermark:
			add(f)
		default:
			bucket, sum := f.digest()
			sums[bucket] ^= sum
			rest[bucket] = append(rest[bucket], f)
		}
	}
	if !r.f.RecoveryOnly() {
		c.Files = slices.DeleteFunc(c.Files, func(e *entry) bool { return !used[e] })
	}
	for bucket := range buckets {
		same := sums[bucket] == c.sum(bucket)
		if !same && !r.f.RecoveryOnly() {
			c.toggle(bucket, c.sum(bucket))
		}
		for _, f := range rest[bucket] {
			switch {
			case same && (held[f.key()] || r.again(f)):
				c.toggle(f.digest()) // it gets an entry
				add(f)
			case same || r.f.RecoveryOnly():
				f.standing, f.read = accounted, f.size
			default:
				add(f)
			}
		}
	}
	slices.SortStableFunc(todo, func(a, b *found) int {
		switch {
		case a.change < b.change:
			return -1
		case a.change > b.change:
			return 1
		}
		return 0
	})
	return todo
}

// compare decides about a file with a known place.
func (r *reader) compare(f *found, e *entry, held map[string]bool, add func(*found)) {
	same := e.Path == f.path && e.Size == f.size && e.Change == f.change && !e.Open
	old := e.Offset < f.size && !e.Torn && f.store.Lines != nil && r.began.Sub(time.Unix(0, f.change)) > unfinished
	switch {
	case same && e.Bad && (e.Final || !held[f.key()]):
		f.standing = unreadable
	case same && !e.Bad && !old && !r.again(f):
		f.standing, f.read = accounted, min(e.Offset, f.size)
		if f.store.Lines == nil {
			f.read = f.size
		}
	default:
		add(f)
	}
}

// again reports whether a file has to be read because of what is said about it elsewhere.
func (r *reader) again(f *found) bool {
	return r.src.Again != nil && f.id != "" && r.cur.Looked != 0 && r.src.Again(f.id, time.Unix(0, r.cur.Looked))
}

// heldFiles are the keys of files whose gaps this run was served.
func (r *reader) heldFiles() map[string]bool {
	held := map[string]bool{}
	for _, g := range r.f.Gaps() {
		held[string(g.RecordKey)] = true
	}
	return held
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

// sendError is a failure of the output, not of the file.
type sendError struct{ err error }

func (e *sendError) Error() string { return e.err.Error() }

func (e *sendError) Unwrap() error { return e.err }

// IsSend reports whether an error is one of the output, which ends the run whatever is read.
func IsSend(err error) bool {
	var sent *sendError
	return errors.As(err, &sent)
}

// ErrMoved means that the file is not the one any more that was being read. Nothing of
// the open slice is sent, and the next pass reads it again.
var ErrMoved = errors.New("the file shrank or was replaced while it was read")

// refused declares a file as missing. Of a damaged one, what could be decoded is kept.
func (r *reader) refused(f *found, e *entry, err error) {
	var why *RefusedError
	if !errors.Is(err, errDamaged) && !errors.As(err, &why) {
		r.slice.out = r.slice.out[:r.slice.file]
	}
	if errors.Is(err, ErrMoved) {
		if f.entry != nil {
			f.entry.Open = true // seen again by the next pass, whatever its times
		}
		return
	}
	reason := ReasonUnreadable
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = ReasonVanished
	case why != nil:
		reason = why.Reason
	case errors.Is(err, errDamaged):
		reason = ReasonDamaged
	}
	f.standing = unreadable
	r.gap(f, reason, true, f.key(), 0, 0)
	e.Bad, e.Final = true, why != nil
	if old := f.entry; old != nil { // what was read of it stays read
		e.Offset, e.Head, e.Tail, e.State = old.Offset, old.Head, old.Tail, old.State
	}
	r.keep(f, e)
}

// done settles a file that was read to its end.
func (r *reader) done(f *found, e *entry) {
	f.standing, f.read = accounted, e.Offset
	if f.store.Lines == nil {
		f.read = f.size
	}
	if f.store.Listed != "" {
		r.slice.out = append(r.slice.out, emission{stream: f.store.Listed, rec: inventory(f)})
	}
	r.slice.out = append(r.slice.out, emission{stream: f.store.Streams[0], recovered: f.key()})
	if r.began.Sub(time.Unix(0, e.Change)) < unsettled {
		e.Change = 0 // the next pass looks again
	}
	r.keep(f, e)
}

func (r *reader) keep(f *found, e *entry) {
	if f.entry != nil {
		r.cur.drop(f.entry)
	}
	r.cur.put(e, r.limit)
	f.entry = e
	// A time in the future must not hide what is written until then.
	if at := min(f.change, r.began.UnixNano()); !e.Open && at > r.cur.Watermark {
		r.cur.Watermark = at
	}
}

// gap declares a file or a piece of it as missing.
func (r *reader) gap(f *found, reason protocol.Reason, retryable bool, key string, offset, length int64) {
	locator, err := json.Marshal(map[string]any{"store": f.store.Name, "file": f.rel, "offset": offset, "length": length}, json.Deterministic(true))
	if err != nil {
		return
	}
	r.slice.out = append(r.slice.out, emission{gap: &protocol.DetailGap{
		Stream: f.store.Streams[0], RecordKey: protocol.WireKey(key), Reason: reason, Retryable: retryable,
		DetailLocator: locator, Detail: &protocol.GapDetail{Class: string(reason)},
	}})
}

// due reports whether the slice is to be closed. The clock is read now and then.
func (r *reader) due() bool {
	s := &r.slice
	if len(s.out) >= sliceRecords || s.bytes >= sliceBytes {
		return true
	}
	if s.ticks++; s.ticks%64 != 0 {
		return false
	}
	return r.f.Now().Sub(s.since) >= sliceTime
}

// commit sends the slice with the bookmark.
func (r *reader) commit(ctx context.Context) error {
	for _, e := range r.slice.out {
		if err := r.send(ctx, e); err != nil {
			return &sendError{err}
		}
	}
	r.slice = slice{out: r.slice.out[:0], since: r.f.Now()}
	r.remember(r.cur)
	var err error
	if r.cur == r.history {
		err = r.f.StateCatchUp(ctx, r.carrier, r.cur)
	} else {
		err = r.f.State(ctx, r.carrier, r.cur)
	}
	if err != nil {
		return &sendError{err}
	}
	return nil
}

func (r *reader) send(ctx context.Context, e emission) error {
	switch {
	case e.gap != nil:
		return r.f.Gap(ctx, *e.gap)
	case e.recovered != "":
		return r.f.Recovered(ctx, e.stream, e.recovered)
	}
	return r.f.Record(ctx, e.stream, e.rec)
}

// conclude settles the gaps that were served, accounts for every store and closes every
// stream's slice.
func (r *reader) conclude(ctx context.Context) error {
	r.cur = r.steady
	r.closed()
	if r.src.Memory != nil && !r.f.RecoveryOnly() {
		r.src.Memory.End(r.whole(), func(stream string, rec connectorkit.Record) {
			if r.selected[stream] {
				r.slice.out = append(r.slice.out, emission{stream: stream, rec: rec})
			}
		})
	}
	files := map[string]*found{}
	for _, f := range slices.Concat(r.walk.files, r.walk.closed) {
		files[f.key()] = f
	}
	for _, g := range r.f.Gaps() {
		if err := r.settleGap(ctx, g, files); err != nil {
			return err
		}
	}
	if r.selected[CoverageStream] {
		for _, rec := range r.coverage() {
			if err := r.f.Record(ctx, CoverageStream, rec); err != nil {
				return err
			}
		}
	}
	r.steady.Looked = r.began.UnixNano()
	if err := r.commit(ctx); err != nil {
		return err
	}
	for _, name := range r.f.Selected() {
		if name != r.carrier {
			if err := r.f.State(ctx, name, map[string]any{"v": version, "with": r.carrier}); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleGap says what became of a gap that nothing of this run has settled.
func (r *reader) settleGap(ctx context.Context, g protocol.GapEntry, files map[string]*found) error {
	key := string(g.RecordKey)
	var at struct {
		Store  string `json:"store"`
		File   string `json:"file"`
		Offset int64  `json:"offset"`
	}
	if json.Unmarshal(g.DetailLocator, &at) != nil {
		return nil
	}
	file, _, line := strings.Cut(key, "@")
	f := files[file]
	switch {
	case !strings.HasPrefix(key, "file:"):
		return nil
	case f == nil && r.listed(at.Store, at.File):
		return r.f.Recovered(ctx, g.Stream, key)
	case f == nil:
		return r.f.Gap(ctx, protocol.DetailGap{
			Stream: g.Stream, RecordKey: g.RecordKey, Reason: protocol.Reason(connectorkit.Gone), DetailLocator: g.DetailLocator,
			Detail: &protocol.GapDetail{Class: string(connectorkit.Gone)},
		})
	case f.standing == accounted && (!line || f.read > at.Offset):
		return r.f.Recovered(ctx, g.Stream, key)
	}
	return nil
}

// lineKey is the key of a gap within a file.
func lineKey(f *found, offset int64) string { return fmt.Sprintf("%s@%d", f.key(), offset) }

// listed reports whether a path is a folder that could be listed.
func (r *reader) listed(store, rel string) bool {
	for _, s := range r.src.Stores {
		for _, t := range r.walk.trees {
			if s.Name == store && s.Root == t.Name && t.dir != nil {
				if t.denied() {
					return false
				}
				info, err := t.dir.Stat(filepath.FromSlash(rel))
				return err == nil && info.IsDir()
			}
		}
	}
	return false
}

func encodeState(v any) jsontext.Value {
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return b
}
