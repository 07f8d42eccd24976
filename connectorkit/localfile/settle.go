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

// declareClosedFolders declares the folders that cannot be listed.
func (r *sourceReader) declareClosedFolders() {
	for _, f := range r.walk.closed {
		if f.standing == fileUnreadable && r.collectsStore(f.store) {
			r.declareGap(f, ReasonUnreadable, true, f.fileKey(), 0, 0)
		}
	}
}

// ErrFileChanged means that the file is not the one any more that was being read. Nothing of
// the open slice is sent, and the next pass reads it again.
var ErrFileChanged = errors.New("the file shrank or was replaced while it was read")

// declareRefused declares a file as missing. Of a damaged one, what could be decoded is kept.
func (r *sourceReader) declareRefused(f *foundFile, e *fileEntry, err error) {
	var why *RefusedError
	if !errors.Is(err, errFileDamaged) && !errors.As(err, &why) {
		r.slice.out = r.slice.out[:r.slice.file]
	}
	if errors.Is(err, ErrFileChanged) {
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
	case errors.Is(err, errFileDamaged):
		reason = ReasonDamaged
	}
	f.standing = fileUnreadable
	r.declareGap(f, reason, true, f.fileKey(), 0, 0)
	e.Bad, e.Final = true, why != nil
	if old := f.entry; old != nil { // what was read of it stays read
		e.Offset, e.Head, e.Tail, e.State = old.Offset, old.Head, old.Tail, old.State
	}
	r.keepEntry(f, e)
}

// settleReadFile settles a file that was read to its end.
func (r *sourceReader) settleReadFile(f *foundFile, e *fileEntry) {
	f.standing, f.read = fileAccounted, e.Offset
	if f.store.Lines == nil {
		f.read = f.size
	}
	if f.store.Listed != "" {
		r.slice.out = append(r.slice.out, sliceMessage{stream: f.store.Listed, rec: listedFileRecord(f)})
	}
	r.slice.out = append(r.slice.out, sliceMessage{stream: f.store.Streams[0], recovered: f.fileKey()})
	if r.began.Sub(time.Unix(0, e.Change)) < unsettledPeriod {
		e.Change = 0 // the next pass looks again
	}
	r.keepEntry(f, e)
}

func (r *sourceReader) keepEntry(f *foundFile, e *fileEntry) {
	if f.entry != nil {
		r.cur.dropEntry(f.entry)
	}
	r.cur.putEntry(e, r.limit)
	f.entry = e
	// A time in the future must not hide what is written until then.
	if at := min(f.change, r.began.UnixNano()); !e.Open && at > r.cur.Watermark {
		r.cur.Watermark = at
	}
}

// declareGap declares a file or a piece of it as missing.
func (r *sourceReader) declareGap(f *foundFile, reason protocol.Reason, retryable bool, key string, offset,
	length int64) {
	locator, err := json.Marshal(map[string]any{"store": f.store.Name, "file": f.rel, "offset": offset, "length": length},
		json.Deterministic(true))
	if err != nil {
		return
	}
	r.slice.out = append(r.slice.out, sliceMessage{gap: &protocol.DetailGap{
		Stream: f.store.Streams[0], RecordKey: protocol.WireKey(key), Reason: reason, Retryable: retryable,
		DetailLocator: locator, Detail: &protocol.GapDetail{Class: string(reason)},
	}})
}

// concludeRun settles the gaps that were served, accounts for every store and closes every
// stream's slice.
func (r *sourceReader) concludeRun(ctx context.Context) error {
	r.cur = r.steady
	r.declareClosedFolders()
	if r.src.Memory != nil && !r.f.RecoveryOnly() {
		r.src.Memory.End(r.walkIsComplete(), func(stream string, rec connectorkit.Record) {
			if r.selected[stream] {
				r.slice.out = append(r.slice.out, sliceMessage{stream: stream, rec: rec})
			}
		})
		if err := r.deleteGoneFiles(ctx); err != nil {
			return err
		}
	}
	served := r.f.Gaps()
	files := map[string]*foundFile{}
	for _, list := range [][]*foundFile{r.walk.files, r.walk.closed} {
		for i := 0; i < len(list) && len(served) > 0; i++ {
			files[list[i].fileKey()] = list[i]
		}
	}
	for _, g := range served {
		if err := r.settleGap(ctx, g, files); err != nil {
			return err
		}
	}
	if r.selected[CoverageStream] {
		for _, rec := range r.storeCoverage() {
			if err := r.f.Record(ctx, CoverageStream, rec); err != nil {
				return err
			}
		}
	}
	r.steady.Looked = r.began.UnixNano()
	if err := r.commitSlice(ctx); err != nil {
		return err
	}
	for _, name := range r.f.Selected() {
		if name != r.carrier {
			if err := r.f.State(ctx, name, map[string]any{"v": cursorVersion, "with": r.carrier}); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleGap reports the outcome of a gap that this run has not settled otherwise.
func (r *sourceReader) settleGap(ctx context.Context, g protocol.GapEntry, files map[string]*foundFile) error {
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
	case f == nil && r.folderWasListed(at.Store, at.File):
		return r.f.Recovered(ctx, g.Stream, key)
	case f == nil:
		return r.f.Gap(ctx, protocol.DetailGap{
			Stream: g.Stream, RecordKey: g.RecordKey, Reason: protocol.Reason(connectorkit.Gone), DetailLocator: g.DetailLocator,
			Detail: &protocol.GapDetail{Class: string(connectorkit.Gone)},
		})
	case f.standing == fileAccounted && (!line || f.read > at.Offset):
		return r.f.Recovered(ctx, g.Stream, key)
	}
	return nil
}

// lineGapKey is the key of a gap within a file.
func lineGapKey(f *foundFile, offset int64) string { return fmt.Sprintf("%s@%d", f.fileKey(), offset) }

// folderWasListed reports whether a path is a folder that could be listed.
func (r *sourceReader) folderWasListed(store, rel string) bool {
	for _, s := range r.src.Stores {
		for _, t := range r.walk.trees {
			if s.Name == store && s.Root == t.Name && t.dir != nil {
				if t.isDenied() {
					return false
				}
				info, err := t.dir.Stat(filepath.FromSlash(rel))
				return err == nil && info.IsDir()
			}
		}
	}
	return false
}
