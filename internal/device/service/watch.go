package service

import (
	"hash/maphash"
	"maps"
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
	files  map[uint64]uint64 // hash of the path to that of what it looked like, the last bit that of round
	round  uint64            // 0 and 1 in turn, of the looks at everything
	hot    []hotFile
	looked time.Time // at everything
}

type hotFile struct {
	path     string
	name     uint64 // its hash
	modified int64
}

// looks is what a file looks like from outside.
type looks struct {
	size, modified int64
	regular        bool
	folder         bool
}

func newWatch(roots []string) *watch {
	return &watch{roots: roots, seed: maphash.MakeSeed()}
}

// look reports whether a file changed since the previous look. The first look reports no change,
// because the service makes an initial pass anyway.
func (w *watch) look(now time.Time) bool {
	if w.files == nil || now.Sub(w.looked) >= allEvery || now.Before(w.looked) {
		return w.lookAtAll(now)
	}
	changed := false
	for _, f := range w.hot {
		if now, err := looksOf(f.path); err == nil { // what is gone is no news
			changed = w.note(f.name, now) || changed
		}
	}
	return changed
}

func looksOf(path string) (looks, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return looks{}, err
	}
	return looks{info.Size(), info.ModTime().UnixNano(), info.Mode().IsRegular(), info.IsDir()}, nil
}

// note remembers how a file looks and reports whether that is new.
func (w *watch) note(name uint64, l looks) bool {
	now := maphash.Comparable(w.seed, [2]int64{l.size, l.modified})&^1 | w.round
	before, known := w.files[name]
	if before != now || !known {
		w.files[name] = now
	}
	return !known || (before^now)&^1 != 0
}

func (w *watch) lookAtAll(now time.Time) bool {
	first := w.files == nil
	if first {
		w.files = map[uint64]uint64{}
	}
	w.round ^= 1
	all := lookRound{watch: w}
	for _, root := range w.roots {
		if l, err := looksOf(root); err == nil && l.folder {
			all.folder(root)
		} else if err == nil && l.regular {
			all.file("", root, maphash.String(w.seed, root), l)
		}
	}
	if all.files < len(w.files) { // some are gone
		maps.DeleteFunc(w.files, func(_, looked uint64) bool { return looked&1 != w.round })
	}
	w.hot, w.looked = hottest(all.hot), now
	return all.changed && !first
}

// lookRound is one look at everything.
type lookRound struct {
	*watch
	changed bool
	files   int
	hot     []hotFile
	least   int64 // what changed before is none of the hot ones
}

// folder looks at everything below a folder. It skips a folder that cannot be read, because the
// connector reports that error.
func (r *lookRound) folder(path string) {
	dir, err := os.Open(path)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	place := maphash.String(r.seed, path)
	var folders []string
	for _, name := range names {
		l, err := looksIn(dir, name)
		switch {
		case err != nil:
		case l.folder:
			folders = append(folders, name)
		case l.regular:
			r.file(path, name, place^maphash.String(r.seed, name), l)
		}
	}
	_ = dir.Close()
	for _, name := range folders {
		r.folder(filepath.Join(path, name))
	}
}

// file looks at one file. It builds the file's path only if the file may be a hot one.
func (r *lookRound) file(folder, name string, hash uint64, l looks) {
	r.files++
	r.changed = r.note(hash, l) || r.changed
	if l.modified < r.least {
		return
	}
	if r.hot = append(r.hot, hotFile{filepath.Join(folder, name), hash, l.modified}); len(r.hot) > 20*hotFiles {
		r.hot = hottest(r.hot)
		r.least = r.hot[hotFiles-1].modified
	}
}

// hottest keeps the files that changed last.
func hottest(all []hotFile) []hotFile {
	slices.SortFunc(all, func(a, b hotFile) int { return int(min(max(b.modified-a.modified, -1), 1)) })
	return slices.Clip(slices.Clone(all[:min(len(all), hotFiles)]))
}
