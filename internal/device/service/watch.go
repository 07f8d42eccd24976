package service

import (
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A watch looks at files in two tiers: the ones that changed last often, everything
// seldom. It needs no notifications, no open files and no limits of the system, and works
// on network folders.
const (
	hotFiles = 50
	hotEvery = 2 * time.Second
	soon     = 500 * time.Millisecond // while a change waits for its pass
	allEvery = time.Minute
)

type watch struct {
	roots  []string
	seed   maphash.Seed
	files  map[uint64]uint64 // hash of the path to that of what it looked like
	hot    []hotFile
	looked time.Time // at everything
}

type hotFile struct {
	path     string
	modified int64
}

func newWatch(roots []string) *watch {
	return &watch{roots: roots, seed: maphash.MakeSeed()}
}

// look reports whether something changed since it was last looked at. The first look
// finds nothing: a pass begins by itself.
func (w *watch) look(now time.Time) bool {
	if w.files == nil || now.Sub(w.looked) >= allEvery || now.Before(w.looked) {
		return w.lookAtAll(now)
	}
	changed := false
	for _, f := range w.hot {
		info, err := os.Lstat(f.path)
		if err != nil {
			continue // what is gone is no news
		}
		changed = w.note(w.files, f.path, info) || changed
	}
	return changed
}

// note remembers how a file looks and reports whether that is new.
func (w *watch) note(into map[uint64]uint64, path string, info fs.FileInfo) bool {
	var looks [2]int64
	looks[0], looks[1] = info.Size(), info.ModTime().UnixNano()
	name, now := maphash.String(w.seed, path), maphash.Comparable(w.seed, looks)
	before, known := w.files[name]
	into[name] = now
	return !known || before != now
}

func (w *watch) lookAtAll(now time.Time) bool {
	first := w.files == nil
	files, changed := make(map[uint64]uint64, len(w.files)), false
	var hot []hotFile
	for _, root := range w.roots {
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !e.Type().IsRegular() {
				return nil // an unreadable folder is the connector's to tell of
			}
			info, err := e.Info()
			if err != nil {
				return nil
			}
			changed = w.note(files, path, info) || changed
			if hot = append(hot, hotFile{path, info.ModTime().UnixNano()}); len(hot) > 20*hotFiles {
				hot = hottest(hot)
			}
			return nil
		})
	}
	w.files, w.hot, w.looked = files, hottest(hot), now
	return changed && !first
}

// hottest keeps the files that changed last.
func hottest(all []hotFile) []hotFile {
	slices.SortFunc(all, func(a, b hotFile) int { return int(min(max(b.modified-a.modified, -1), 1)) })
	return slices.Clip(slices.Clone(all[:min(len(all), hotFiles)]))
}
