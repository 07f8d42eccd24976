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

// maxFolderDepth bounds how deep folders may nest.
const maxFolderDepth = 64

// fileOutcome is the outcome of a file in a pass.
type fileOutcome int

const (
	fileWaiting    fileOutcome = iota // to be read
	fileAccounted                     // read whole, listed, or not asked for in this run
	fileUnreadable                    // declared as a gap
	fileExcluded                      // by the owner, or a link
)

// foundFile is one file of a walk.
type foundFile struct {
	store  *Store
	root   *rootTree
	rel    string // below the root, with slashes
	path   string // digest of store and rel
	id     string
	size   int64
	change int64 // the later of its times, in nanoseconds
	mod    int64

	standing fileOutcome
	read     int64 // bytes of it that are accounted for
	entry    *fileEntry
}

// fileKey is the file's key in gaps.
func (f *foundFile) fileKey() string {
	if f.id != "" {
		return "file:" + f.id
	}
	return "file:" + f.path
}

// versionDigest identifies this version of the file in the digest of settled files.
func (f *foundFile) versionDigest() (bucket int, sum uint32) {
	return settledSum(f.path, f.size, f.change)
}

// rootTree is a root at work.
type rootTree struct {
	Root
	dir    *os.Root // nil when the root is missing or cannot be opened
	file   bool     // the root is a single file, and dir its folder
	real   string
	broken error
	stores *storeMatcher
	limits []string // folders outside of which nothing is looked at; nil means no limit
}

// isInside reports whether a path below the root is within the limits, and leads whether
// something below it can be.
func (t *rootTree) isInside(rel string) (inside, leads bool) {
	if t.limits == nil {
		return true, true
	}
	here := filepath.Join(t.real, filepath.FromSlash(rel))
	for _, limit := range t.limits {
		inside = inside || isBeneath(here, limit)
		leads = leads || isBeneath(limit, here)
	}
	return inside, inside || leads
}

// isBeneath reports whether a path is a folder or lies in it, by whole segments.
func isBeneath(name, folder string) bool {
	rel, err := filepath.Rel(folder, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolveFolders returns the real paths of folders. It omits missing ones.
func resolveFolders(folders []string) []string {
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

// openFile opens a regular file of the tree for reading. Links do not lead out of the root, and
// what is no regular file is refused without waiting for it.
func (t *rootTree) openFile(rel string) (*os.File, fs.FileInfo, error) {
	h, err := t.dir.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := h.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		_ = h.Close()
		return nil, nil, err
	}
	return h, info, nil
}

var errNotRegular = errors.New("not a regular file")

// treeWalk is what a tree held at one moment.
type treeWalk struct {
	trees   []*rootTree
	files   []*foundFile
	unknown map[string]int        // files that no store fits, by a name without detail
	left    Leftovers             // files of import folders that no store fits
	loose   map[string][]string   // names of some of them that lie in no folder, by kind
	closed  []*foundFile          // folders that cannot be listed
	byPlace map[string]*foundFile // made when it is first asked for
}

// fileAt is the file at a path below a root; nil when there is none.
func (w *treeWalk) fileAt(root, rel string) *foundFile {
	if w.byPlace == nil {
		w.byPlace = make(map[string]*foundFile, len(w.files))
		for _, f := range w.files {
			w.byPlace[f.root.Name+"\x00"+f.rel] = f
		}
	}
	return w.byPlace[root+"\x00"+rel]
}

// allFoldersListed reports whether every folder of every root could be looked at.
func (w *treeWalk) allFoldersListed() bool {
	return len(w.closed) == 0 &&
		!slices.ContainsFunc(w.trees, func(t *rootTree) bool { return t.broken != nil || t.limits != nil })
}

func (w *treeWalk) closeTrees() {
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

// walkRoots walks every root once, limited to the folders if there are any. Nothing of
// any file is read.
func (s *Source) walkRoots(ctx context.Context, folders []string) (*treeWalk, error) {
	w := &treeWalk{unknown: map[string]int{}, loose: map[string][]string{}}
	limits := resolveFolders(folders)
	for _, r := range s.Roots {
		t := &rootTree{Root: r, stores: newStoreMatcher(s.Stores, r.Name), limits: limits}
		w.trees = append(w.trees, t)
		t.broken = t.openRoot()
	}
	for _, t := range w.trees {
		if t.dir == nil {
			continue
		}
		var err error
		if t.file {
			var info fs.FileInfo
			if info, err = t.dir.Stat(filepath.Base(t.real)); err == nil {
				w.addFile(s, t, filepath.Base(t.real), info)
			}
		} else {
			err = w.walkFolder(ctx, s, t, ".", 0)
		}
		if ctx.Err() != nil {
			return w, context.Cause(ctx)
		}
		if err != nil && t.broken == nil {
			t.broken = err
		}
	}
	for _, t := range w.trees {
		if t.isDenied() {
			w.noteUnlisted(s, t, ".")
		}
	}
	w.foldCompanions()
	slices.SortFunc(w.files, func(a, b *foundFile) int {
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

// isDenied reports whether the root is there and may not be read.
func (t *rootTree) isDenied() bool { return t.broken != nil && !errors.Is(t.broken, fs.ErrNotExist) }

// openRoot resolves and opens the root. The root itself may be a link: its owner set it.
func (t *rootTree) openRoot() error {
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
	if _, leads := t.isInside("."); !leads {
		return fs.ErrNotExist // of what may be read, nothing is there
	}
	dir := real
	if !info.IsDir() {
		t.file, dir = true, filepath.Dir(real)
	}
	t.dir, err = os.OpenRoot(dir)
	return err
}

func (w *treeWalk) walkFolder(ctx context.Context, s *Source, t *rootTree, rel string, depth int) error {
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
		inside, leads := t.isInside(below)
		if e.IsDir() && !leads || !e.IsDir() && !inside {
			continue
		}
		switch {
		case e.IsDir() && t.Depth > 0 && depth+1 >= t.Depth: // no store lies below
		case e.IsDir() && depth >= maxFolderDepth:
			w.unknown[unknownName(t, below)]++
		case e.IsDir():
			if w.isOtherRoot(t, below) {
				continue
			}
			err := w.walkFolder(ctx, s, t, below, depth+1)
			if ctx.Err() != nil {
				return err
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				w.noteUnlisted(s, t, below)
			}
		default:
			info, err := e.Info()
			if err != nil {
				continue // gone since the folder was listed: it was never seen
			}
			w.addFile(s, t, below, info)
		}
	}
	return nil
}

// isOtherRoot reports whether a folder is another root, which is walked separately.
func (w *treeWalk) isOtherRoot(t *rootTree, rel string) bool {
	here := filepath.Join(t.real, filepath.FromSlash(rel))
	return slices.ContainsFunc(w.trees, func(o *rootTree) bool { return o != t && o.real == here })
}

// noteUnlisted notes a folder that cannot be listed: whatever it holds is missing.
func (w *treeWalk) noteUnlisted(s *Source, t *rootTree, rel string) {
	var store *Store
	if rel != "." {
		store = t.stores.storeFor(path.Join(rel, "x"))
	}
	for i := range s.Stores { // the first store that could lie below it
		if store != nil {
			break
		}
		if c := &s.Stores[i]; c.Root == t.Name && c.readsContent() && matchesAbove(c.Patterns, rel) {
			store = c
		}
	}
	if store == nil {
		w.unknown[unknownName(t, rel)]++
		return
	}
	f := &foundFile{store: store, root: t, rel: rel, path: pathDigest(t.Name, rel), standing: fileUnreadable}
	if s.Exclude != nil && s.Exclude(t.Name, rel) || !store.readsContent() {
		f.standing = fileExcluded
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
			return matchesSegments(parts, segments[:len(parts)])
		}
		return len(parts) > len(segments) && matchesSegments(parts[:len(segments)], segments)
	})
}

func (w *treeWalk) addFile(s *Source, t *rootTree, rel string, info fs.FileInfo) {
	store := t.stores.storeFor(rel)
	if store != nil && store.Guess &&
		slices.ContainsFunc(s.LeftOut, func(l LeftOut) bool { return MatchesAny(l.Patterns, rel) }) {
		store = nil
	}
	if store == nil {
		if info.Mode().IsRegular() {
			w.countUnmatched(s, t, rel)
		}
		return
	}
	f := &foundFile{
		store: store, root: t, rel: rel, path: pathDigest(t.Name, rel), size: info.Size(),
		mod: info.ModTime().UnixNano(), change: changeTime(info),
	}
	if store.ID != nil {
		f.id = store.ID(rel)
	}
	switch {
	case !info.Mode().IsRegular(): // links, sockets, pipes
		f.standing, f.size = fileExcluded, 0
	case s.Exclude != nil && s.Exclude(t.Name, rel):
		f.standing = fileExcluded
	}
	w.files = append(w.files, f)
}

// maxUnmatchedNames bounds the names that are kept of files that no store fits.
const maxUnmatchedNames = 50

// countUnmatched counts a file that no store fits.
func (w *treeWalk) countUnmatched(s *Source, t *rootTree, rel string) {
	if !t.Import {
		w.unknown[unknownName(t, rel)]++
		return
	}
	kind, _ := w.left.Add(s.LeftOut, rel)
	if names := w.loose[kind]; !strings.Contains(rel, "/") && len(names) < maxUnmatchedNames {
		w.loose[kind] = append(names, rel)
	}
}

// foldCompanions applies the changes of companions to the file that they belong to, and removes the
// compressed form of a file that is there as well.
func (w *treeWalk) foldCompanions() {
	for _, f := range w.files {
		if plain, ok := strings.CutSuffix(f.rel, compressedEnding); ok && f.store.Compressed &&
			w.fileAt(f.root.Name, plain) != nil {
			f.standing = fileExcluded
		}
		for _, ending := range f.store.Companions {
			info, err := f.root.dir.Lstat(filepath.FromSlash(f.rel) + ending)
			if err != nil {
				continue
			}
			if at := changeTime(info); at > f.change {
				f.change = at
			}
		}
	}
}

func changeTime(info fs.FileInfo) int64 { return max(info.ModTime().UnixNano(), statusChanged(info)) }

// unknownName names what no store fits, without anything of the owner's: the first folder,
// or the ending below a folder that is known.
func unknownName(t *rootTree, rel string) string {
	head, rest, deep := strings.Cut(rel, "/")
	if !deep || !t.stores.hasFolder(head) {
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
	return int(binary.LittleEndian.Uint16(place[:]) % digestBuckets), binary.LittleEndian.Uint32(h[:])
}
