package localfile

import (
	"path"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// LeftOut is a kind of file that a source knows and does not collect.
type LeftOut struct {
	// Name is what an owner calls the kind, such as "Chrome history".
	Name string
	// Patterns match paths as those of a Store do.
	Patterns []string
}

const (
	// maxNamedFiles bounds the unrecognized files that are counted by name, and maxPatterns all of them.
	maxNamedFiles   = 40
	maxPatterns     = 60
	maxPatternBytes = 80 // bytes
	// otherFiles counts what no other pattern has room for.
	otherFiles = "other files"
)

// Leftovers counts what an export holds and its source does not collect. Known counts by the name
// of the kind, Unknown by a pattern of file names. Its size is bounded whatever an export holds.
type Leftovers struct {
	Known   map[string]int64
	Unknown map[string]int64
}

// Merge adds what another count has.
func (l *Leftovers) Merge(o Leftovers) {
	for kind, n := range o.Known {
		l.Count(kind, n)
	}
	for kind, n := range o.Unknown {
		l.countUnknown(kind, otherFiles, n)
	}
}

// Empty reports whether nothing was counted.
func (l *Leftovers) Empty() bool { return len(l.Known) == 0 && len(l.Unknown) == 0 }

// Add counts a file by the first of the kinds that it fits, or by its name. It returns what the
// file was counted as.
func (l *Leftovers) Add(kinds []LeftOut, rel string) (kind string, known bool) {
	if i := slices.IndexFunc(kinds, func(k LeftOut) bool { return MatchesAny(k.Patterns, rel) }); i >= 0 {
		l.Count(kinds[i].Name, 1)
		return kinds[i].Name, true
	}
	return l.countUnknown(namePattern(rel), endingPattern(rel), 1), false
}

// countUnknown counts by the first pattern that there is room for, and returns it.
func (l *Leftovers) countUnknown(pattern, ending string, n int64) string {
	if l.Unknown == nil {
		l.Unknown = map[string]int64{}
	}
	if _, met := l.Unknown[pattern]; !met && len(l.Unknown) >= maxNamedFiles {
		pattern = ending
		if _, met := l.Unknown[pattern]; !met && len(l.Unknown) >= maxPatterns {
			pattern = otherFiles
		}
	}
	l.Unknown[pattern] += n
	return pattern
}

// Count counts things of a kind that the source names itself.
func (l *Leftovers) Count(kind string, n int64) {
	if l.Known == nil {
		l.Known = map[string]int64{}
	}
	if _, met := l.Known[kind]; !met && len(l.Known) >= maxPatterns+maxNamedFiles {
		kind = otherFiles
	}
	l.Known[kind] += n
}

// namePattern is a path below at most three folders, with # for each run of digits.
func namePattern(rel string) string {
	var b strings.Builder
	digits := false
	for _, r := range path.Base(rel) {
		digit := r >= '0' && r <= '9'
		switch {
		case !digit:
			b.WriteRune(r)
		case !digits:
			b.WriteByte('#')
		}
		digits = digit
	}
	return shortenPattern(path.Join(firstFolder(rel), b.String()))
}

// endingPattern is the folder of a path and how its name ends.
func endingPattern(rel string) string {
	ending := strings.ToLower(path.Ext(rel))
	if len(ending) > 10 {
		ending = ""
	}
	return shortenPattern(path.Join(firstFolder(rel), "*"+ending))
}

func firstFolder(rel string) string {
	segments := strings.Split(rel, "/")
	return strings.Join(segments[:min(3, len(segments)-1)], "/")
}

func shortenPattern(pattern string) string {
	if len(pattern) <= maxPatternBytes {
		return pattern
	}
	return strings.ToValidUTF8(pattern[:maxPatternBytes-3], "") + "..."
}

// maxAccounts bounds the accounts of single files that one run writes.
const maxAccounts = 2000

// Account writes what became of a file into the stream of accounts.
func (f *File) Account(c *Coverage) {
	if f.r.accounts++; f.r.accounts > maxAccounts {
		f.Skip("files without an account of their own")
		return
	}
	if f.r.selected[CoverageStream] {
		f.r.slice.out = append(f.r.slice.out, sliceMessage{stream: CoverageStream, rec: connectorkit.Upsert(c)})
	}
}
