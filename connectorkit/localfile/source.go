package localfile

import (
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// CoverageStream is where every pass accounts for the stores.
const CoverageStream = "coverage_diagnostics"

// Source is a collector of local files.
type Source struct {
	// Streams are all that the stores can bring. The first one that a run asks for carries
	// the bookmark.
	Streams []string
	Roots   []Root
	// Stores are matched in order; the first one that fits has the file.
	Stores []Store
	// LastWins declares that files repeat records of others, and that the one that changed last
	// is right. What changed lately is then read again once history has been read.
	LastWins bool
	// Settings are the owner's choices that decide how files are read. Under others, every file is
	// read again.
	Settings string
	// Empty is what the owner reads when a first run finds no file that any store reads. Empty
	// itself: that is nothing worth a word.
	Empty string
	// Again reports whether a file, by its ID, is to be read although it did not change since
	// the pass that began then: information about it in other files did. It may be nil.
	Again func(id string, since time.Time) bool
	// Exclude reports what the owner does not want to be read. It may be nil.
	Exclude func(root, rel string) bool
	// Memory is what the source itself remembers from run to run. It may be nil.
	Memory Memory
	// Mirror is a stream with one record for each file that is read, which is deleted when the file is. After a
	// bookmark was forgotten, what is stored of it is compared with the files; Memory knows their keys. Empty means
	// that the absence of a file is retention: nothing is ever deleted because of it.
	Mirror string
	// LeftOut are kinds of files below import folders that no store has, and that the account names.
	LeftOut []LeftOut
}

// Memory is kept with every bookmark, so that it knows of exactly those files that the bookmark
// counts as read. It has to be small: a few bytes for a file.
type Memory interface {
	// Load takes what was kept; nothing at first.
	Load(stored jsontext.Value)
	// Walked is called before files are read, with what is there now.
	Walked(present func(root, rel string) bool)
	// Key returns the key of a file's record in the stream that Mirror names; false when it is not known.
	Key(root, rel string) (key string, known bool)
	// Keep is what is to be kept.
	Keep() any
	// End is called when everything was read. Whole reports that every folder could be listed, and
	// that no file was left out, so that what was not met is not there.
	End(whole bool, emit func(stream string, rec connectorkit.Record))
}

// Root is a folder, or a single file, that stores lie in.
type Root struct {
	Name string
	Path string // absolute; empty when there is none
	// Import declares that the files are exports from the owner: their records name which of
	// them they came from.
	Import bool
	// Depth is how many segments the paths of stores have at most; what lies deeper is no part of
	// any and is not looked at. Zero means that there is no such limit.
	Depth int
}

// Store is one kind of file. At most one of Lines, Whole and Open reads it; with
// none of them a file is listed, or not touched at all.
type Store struct {
	Name string
	Root string
	// Patterns match paths below the root, by segments as path.Match does; ** matches any
	// number of segments.
	Patterns []string
	// Streams are what the store brings, the one first that its gaps belong to.
	Streams []string
	// Reason explains in a few words why the store is treated so.
	Reason string
	// ID is what identifies a file whatever its place: an id that its content bears too.
	// Empty: its path does.
	ID func(rel string) string

	// Lines opens a file of lines and remembers the place in it. State is what the reader last
	// returned from State; nil at the beginning of the file.
	Lines func(f *File, state jsontext.Value) LineReader
	// Compressed declares that files may also exist in a compressed form, named with .zst
	// behind. The plain one is preferred.
	Compressed bool
	// Whole gets the content of a small file, at most Limit bytes of it.
	Whole func(f *File, content []byte) error
	Limit int64 // 1 MiB when zero
	// Open reads a file of another form, a database or an archive. It is called when the file,
	// or one of its Companions, changed.
	Open func(ctx context.Context, f *File, h *os.File, state jsontext.Value) error
	// Settle is for how long a file must not have changed before Open reads it: a program may
	// still be writing it.
	Settle time.Duration
	// Companions are endings of files that belong to one that Open reads, such as -wal.
	Companions []string
	// Guess means that the patterns do not determine the kind: what LeftOut of the source names is no file
	// of the store.
	Guess bool
	// Listed is the stream that the file is listed in, by name, size and time; with no other
	// way of reading it, it is never opened.
	Listed string
}

// LineReader reads the lines of one file in their order.
type LineReader interface {
	// Line reads a line without its end. The bytes are valid during the call. An error
	// declares the line as missing; the file goes on.
	Line(line []byte) error
	// End is called when the last line that exists now has been read, if there was any.
	End()
	// State is what is needed to read on behind the last line. It is kept in the bookmark,
	// so that it has to be small; ErrNotResumable means that the file is to be read from its
	// beginning the next time. It is called before a slice is closed: what was held back has
	// to be brought now.
	State() any
}

// ErrNotResumable is the state of a file that cannot be read on.
var ErrNotResumable = errors.New("the file is read from its beginning")

// Collector returns the collector for a connector's Open.
func (s Source) Collector() connectorkit.Collector {
	return connectorkit.PushSource{Streams: append(slices.Clone(s.Streams), CoverageStream),
		Collect: func(ctx context.Context, f *connectorkit.Push) error {
			return newSourceReader(&s, f).collectPass(ctx)
		}}
}

func (s *Store) readsContent() bool { return s.Lines != nil || s.Whole != nil || s.Open != nil }

// storeMatcher finds the store of a path. Patterns are sorted by their first segment once.
type storeMatcher struct {
	byHead map[string][]storePattern // stores with a pattern that begins with a literal segment
	wild   []storePattern
}

type storePattern struct {
	store    *Store
	place    int
	segments []string
}

func newStoreMatcher(list []Store, root string) *storeMatcher {
	m := &storeMatcher{byHead: map[string][]storePattern{}}
	for i := range list {
		if list[i].Root != root {
			continue
		}
		for _, p := range list[i].Patterns {
			one := storePattern{&list[i], i, strings.Split(p, "/")}
			if head := one.segments[0]; strings.ContainsAny(head, `*?[\`) {
				m.wild = append(m.wild, one)
			} else {
				m.byHead[head] = append(m.byHead[head], one)
			}
		}
	}
	return m
}

// storeFor returns the first store, in the source's order, that matches the path, or nil.
func (m *storeMatcher) storeFor(rel string) *Store {
	segments := strings.Split(rel, "/")
	var best *storePattern
	for _, list := range [][]storePattern{m.byHead[segments[0]], m.wild} {
		for i := range list {
			if one := &list[i]; (best == nil || one.place < best.place) && matchesSegments(one.segments, segments) {
				best = one
			}
		}
	}
	if best == nil {
		return nil
	}
	return best.store
}

// hasFolder reports whether a store lies below that first segment.
func (m *storeMatcher) hasFolder(head string) bool { return len(m.byHead[head]) > 0 }

// MatchesAny reports whether a path fits one of the patterns of a store.
func MatchesAny(patterns []string, rel string) bool {
	segments := strings.Split(rel, "/")
	return slices.ContainsFunc(patterns, func(p string) bool { return matchesSegments(strings.Split(p, "/"), segments) })
}

func matchesSegments(pattern, segments []string) bool {
	for i, p := range pattern {
		if p == "**" {
			for skip := i; skip <= len(segments); skip++ {
				if matchesSegments(pattern[i+1:], segments[skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(segments) {
			return false
		}
		if !matchesSegment(p, segments[i]) {
			return false
		}
	}
	return len(pattern) == len(segments)
}

// matchesSegment is path.Match of one segment; most patterns are a name, or end like one.
func matchesSegment(pattern, segment string) bool {
	ending, any := strings.CutPrefix(pattern, "*")
	if !strings.ContainsAny(ending, `*?[\`) {
		if any {
			return strings.HasSuffix(segment, ending)
		}
		return pattern == segment
	}
	ok, err := path.Match(pattern, segment)
	return ok && err == nil
}
