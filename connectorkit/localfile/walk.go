package localfile

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxDepth bounds how deep folders may nest.
const maxDepth = 64

// standing is what became of a file.
type standing int

const (
	waiting    standing = iota // to be read
	accounted                  // read whole, listed, or not asked for in this run
	unreadable                 // declared as a gap
	excluded                   // by the owner, or a link
)

// found is one file of a walk.
type found struct {
	store  *Store
	root   *tree
	rel    string // below the root, with slashes
	path   string // digest of store and rel
	id     string
	size   int64
	change int64 // the later of its times, in nanoseconds
	mod    int64

	standing standing
	read     int64 // bytes of it that are accounted for
	entry    *entry
}

// key is the file's key in gaps.
func (f *found) key() string {
	if f.id != "" {
		return "file:" + f.id
	}
	return "file:" + f.path
}

// digest identifies this version of the file in the digest of settled files.
func (f *found) digest() (bucket int, sum uint32) { return settledSum(f.path, f.size, f.change) }

// tree is a root at work.
type tree struct {
	Root
	dir    *os.Root // nil when the root is missing or cannot be opened
	file   bool     // the root is a single file, and dir its folder
	real   string
	broken error
	stores *stores
	limits []string // folders outside of which nothing is looked at; nil means no limit
}

// inside reports whether a path below the root is within the limits, and leads whether
// something below it can be.
func (t *tree) inside(rel string) (inside, leads bool) {
	if t.limits == nil {
		return true, true
	}
	here := filepath.Join(t.real, filepath.FromSlash(rel))
	for _, limit := range t.limits {
		inside = inside || beneath(here, limit)
		leads = leads || beneath(limit, here)
	}
	return inside, inside || leads
}

// beneath reports whether a path is a folder or lies in it, by whole segments.
func beneath(name, folder string) bool {
	rel, err := filepath.Rel(folder, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved gives folders as they are on the disk. One that is not there holds nothing.
func resolved(folders []string) []string {
	if len(folders) == 0 {
		return nil
	}
	out := []string{}
	for _, folder := range folders {
		if real, err := filepath.EvalSymlinks(folder); err == nil && filepath.IsAbs(real) {
			out = append(out, real)
		}
	}
	return out
}

// open opens a regular file of the tree for reading. Links do not lead out of the root, and
// what is no regular file is refused without waiting for it.
func (t *tree) open(rel string) (*os.File, fs.FileInfo, error) {
	h, err := t.dir.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := h.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errSpecial
	}
	if err != nil {
		_ = h.Close()
		return nil, nil, err
	}
	return h, info, nil
}

var errSpecial = errors.New("not a regular file")

// walk is what a tree held at one moment.
type walk struct {
	trees   []*tree
	files   []*found
	unknown map[string]int      // files that no store fits, by a name without detail
	left    Leftovers           // files of import folders that no store fits
	loose   map[string][]string // names of some of them that lie in no folder, by kind
	closed  []*found            // folders that cannot be listed
	byPlace map[string]*found   // made when it is first asked for
}

// at is the file at a path below a root; nil when there is none.
func (w *walk) at(root, rel string) *found {
	if w.byPlace == nil {
		w.byPlace = make(map[string]*found, len(w.files))
		for _, f := range w.files {
			w.byPlace[f.root.Name+"\x00"+f.rel] = f
		}
	}
	return w.byPlace[root+"\x00"+rel]
}

// open reports whether every folder of every root could be looked at.
func (w *walk) open() bool {
	return len(w.closed) == 0 &&
		!slices.ContainsFunc(w.trees, func(t *tree) bool { return t.broken != nil || t.limits != nil })
}

func (w *walk) close() {
	for _, t := range w.trees {
		if t.dir != nil {
			_ = t.dir.Close()
		}
	}
}

func pathDigest(root, rel string) string {
	var space [256]byte
	sum := sha256.Sum256(append(append(append(space[:0], root...), 0), rel...))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// look walks every root once, as far as it lies in the folders, if any are given. Nothing of
// any file is read.
func (s *Source) look(ctx context.Context, folders []string) (*walk, error) {
	w := &walk{unknown: map[string]int{}, loose: map[string][]string{}}
	limits := resolved(folders)
	for _, r := range s.Roots {
		t := &tree{Root: r, stores: newStores(s.Stores, r.Name), limits: limits}
		w.trees = append(w.trees, t)
		t.broken = t.begin()
	}
	for _, t := range w.trees {
		if t.dir == nil {
			continue
		}
		var err error
		if t.file {
			var info fs.FileInfo
			if info, err = t.dir.Stat(filepath.Base(t.real)); err == nil {
				w.add(s, t, filepath.Base(t.real), info)
			}
		} else {
			err = w.folder(ctx, s, t, ".", 0)
		}
		if ctx.Err() != nil {
			return w, context.Cause(ctx)
		}
		if err != nil && t.broken == nil {
			t.broken = err
		}
	}
	for _, t := range w.trees {
		if t.denied() {
			w.shut(s, t, ".")
		}
	}
	w.fold()
	slices.SortFunc(w.files, func(a, b *found) int {
		if a.change != b.change {
			if a.change < b.change {
				return -1
			}
			return 1
		}
		return strings.Compare(a.rel, b.rel)
	})
	return w, nil
}

// denied reports whether the root is there and may not be read.
func (t *tree) denied() bool { return t.broken != nil && !errors.Is(t.broken, fs.ErrNotExist) }

// begin resolves and opens the root. The root itself may be a link: its owner set it.
func (t *tree) begin() error {
	if t.Path == "" {
		return fs.ErrNotExist
	}
	real, err := filepath.EvalSymlinks(t.Path)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	t.real = real
	if _, leads := t.inside("."); !leads {
		return fs.ErrNotExist // of what may be read, nothing is there
	}
	dir := real
	if !info.IsDir() {
		t.file, dir = true, filepath.Dir(real)
	}
	t.dir, err = os.OpenRoot(dir)
	return err
}

func (w *walk) folder(ctx context.Context, s *Source, t *tree, rel string, depth int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	h, err := t.dir.Open(filepath.FromSlash(rel))
	if err != nil {
		return err
	}
	entries, err := h.ReadDir(-1)
	_ = h.Close()
	if err != nil && len(entries) == 0 {
		return err
	}
	for _, e := range entries {
		below := path.Join(rel, e.Name())
		inside, leads := t.inside(below)
		if e.IsDir() && !leads || !e.IsDir() && !inside {
			continue
		}
		switch {
		case e.IsDir() && t.Depth > 0 && depth+1 >= t.Depth: // no store lies below
		case e.IsDir() && depth >= maxDepth:
			w.unknown[unknownName(t, below)]++
		case e.IsDir():
			if w.isRoot(t, below) {
				continue
			}
			err := w.folder(ctx, s, t, below, depth+1)
			if ctx.Err() != nil {
				return err
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				w.shut(s, t, below)
			}
		default:
			info, err := e.Info()
			if err != nil {
				continue // gone since the folder was listed: it was never seen
			}
			w.add(s, t, below, info)
		}
	}
	return nil
}

// isRoot reports whether a folder is a root of its own, which is walked by itself.
func (w *walk) isRoot(t *tree, rel string) bool {
	here := filepath.Join(t.real, filepath.FromSlash(rel))
	return slices.ContainsFunc(w.trees, func(o *tree) bool { return o != t && o.real == here })
}

// shut notes a folder that cannot be listed: whatever it holds is missing.
func (w *walk) shut(s *Source, t *tree, rel string) {
	var store *Store
	if rel != "." {
		store = t.stores.find(path.Join(rel, "x"))
	}
	for i := range s.Stores { // the first store that could lie below it
		if store != nil {
			break
		}
		if c := &s.Stores[i]; c.Root == t.Name && c.reads() && matchesAbove(c.Patterns, rel) {
			store = c
		}
	}
	if store == nil {
		w.unknown[unknownName(t, rel)]++
		return
	}
	f := &found{store: store, root: t, rel: rel, path: pathDigest(t.Name, rel), standing: unreadable}
	if s.Exclude != nil && s.Exclude(t.Name, rel) || !store.reads() {
		f.standing = excluded
	}
	w.closed = append(w.closed, f)
}

// matchesAbove reports whether a pattern can match something below the folder.
func matchesAbove(patterns []string, rel string) bool {
	if rel == "." {
		return true
	}
	segments := strings.Split(rel, "/")
	return slices.ContainsFunc(patterns, func(p string) bool {
		parts := strings.Split(p, "/")
		if i := slices.Index(parts, "**"); i >= 0 {
			parts = parts[:min(i, len(segments))]
			return matches(parts, segments[:len(parts)])
		}
		return len(parts) > len(segments) && matches(parts[:len(segments)], segments)
	})
}

func (w *walk) add(s *Source, t *tree, rel string, info fs.FileInfo) {
	store := t.stores.find(rel)
	if store != nil && store.Guess &&
		slices.ContainsFunc(s.LeftOut, func(l LeftOut) bool { return Match(l.Patterns, rel) }) {
		store = nil
	}
	if store == nil {
		if info.Mode().IsRegular() {
			w.leave(s, t, rel)
		}
		return
	}
	f := &found{
		store: store, root: t, rel: rel, path: pathDigest(t.Name, rel), size: info.Size(),
		mod: info.ModTime().UnixNano(), change: changed(info),
	}
	if store.ID != nil {
		f.id = store.ID(rel)
	}
	switch {
	case !info.Mode().IsRegular(): // links, sockets, pipes
		f.standing, f.size = excluded, 0
	case s.Exclude != nil && s.Exclude(t.Name, rel):
		f.standing = excluded
	}
	w.files = append(w.files, f)
}

// maxLoose bounds the names that are kept of files that no store fits.
const maxLoose = 50

// leave counts a file that no store fits.
func (w *walk) leave(s *Source, t *tree, rel string) {
	if !t.Import {
		w.unknown[unknownName(t, rel)]++
		return
	}
	kind, _ := w.left.Add(s.LeftOut, rel)
	if names := w.loose[kind]; !strings.Contains(rel, "/") && len(names) < maxLoose {
		w.loose[kind] = append(names, rel)
	}
}

// fold lets what companions say count for the file that they belong to, and leaves out the
// compressed form of a file that is there as well.
func (w *walk) fold() {
	for _, f := range w.files {
		if plain, ok := strings.CutSuffix(f.rel, compressedEnding); ok && f.store.Compressed && w.at(f.root.Name, plain) != nil {
			f.standing = excluded
		}
		for _, ending := range f.store.Companions {
			info, err := f.root.dir.Lstat(filepath.FromSlash(f.rel) + ending)
			if err != nil {
				continue
			}
			if at := changed(info); at > f.change {
				f.change = at
			}
		}
	}
}

func changed(info fs.FileInfo) int64 { return max(info.ModTime().UnixNano(), statusChanged(info)) }

// unknownName names what no store fits, without anything of the owner's: the first folder,
// or the ending below a folder that is known.
func unknownName(t *tree, rel string) string {
	head, rest, deep := strings.Cut(rel, "/")
	if !deep || !t.stores.knows(head) {
		return head
	}
	ending := strings.ToLower(path.Ext(rest))
	if len(ending) < 2 || len(ending) > 10 || strings.Trim(ending[1:], "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		ending = ""
	}
	return head + "/*" + ending
}

func settledSum(path string, size, change int64) (bucket int, sum uint32) {
	var space [64]byte
	b := append(space[:0], path...)
	place := sha256.Sum256(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint64(b, uint64(change))
	h := sha256.Sum256(b)
	return int(binary.LittleEndian.Uint16(place[:]) % buckets), binary.LittleEndian.Uint32(h[:])
}
