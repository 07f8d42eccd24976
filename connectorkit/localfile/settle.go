package localfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// closed declares the folders that cannot be listed.
func (r *reader) closed() {
	for _, f := range r.walk.closed {
		if f.standing == unreadable && r.wanted(f.store) {
			r.gap(f, ReasonUnreadable, true, f.key(), 0, 0)
		}
	}
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
		if err := r.mirror(ctx); err != nil {
			return err
		}
	}
	served := r.f.Gaps()
	files := map[string]*found{}
	for _, list := range [][]*found{r.walk.files, r.walk.closed} {
		for i := 0; i < len(list) && len(served) > 0; i++ {
			files[list[i].key()] = list[i]
		}
	}
	for _, g := range served {
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
