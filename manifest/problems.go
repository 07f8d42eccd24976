package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one fault of a manifest.
type Problem struct {
	Path string // where, such as streams[2].coverage_policy; empty for the document itself
	What string // what is wrong there
	Mend string // how to put it right
}

func (p Problem) String() string {
	path := p.Path
	if path == "" {
		path = "manifest"
	}
	return path + ": " + p.What + "; " + p.Mend
}

// Problems is every fault that was found, in the order of discovery.
type Problems []Problem

// Error puts each problem on a line of its own.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps *Problems) add(path, what, mend string) {
	*ps = append(*ps, Problem{Path: path, What: what, Mend: mend})
}

// except leaves out what lies at or below the path of a known problem, so that
// one fault is not told twice.
func (ps Problems) except(known Problems) Problems {
	paths := map[string]bool{}
	for _, p := range known {
		paths[p.Path] = true
	}
	return slices.DeleteFunc(ps, func(p Problem) bool {
		if paths[""] || paths[p.Path] {
			return true
		}
		for i, c := range p.Path {
			if (c == '.' || c == '[') && paths[p.Path[:i]] {
				return true
			}
		}
		return false
	})
}

// err is nil for no problems, so that an empty list never becomes a non-nil error.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// plainName reports whether a name is one of letters, digits and _ $ -, and begins like a name.
func plainName(name string) bool {
	for i, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$':
		case i > 0 && (c >= '0' && c <= '9' || c == '-'):
		default:
			return false
		}
	}
	return name != ""
}

// member is the path of an object's key; a key that would blur the path is quoted.
func member(path, name string) string {
	switch {
	case !plainName(name):
		return path + "[" + quote(name) + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

// element is the path of a list's i-th value.
func element(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

// quote shows a value of the document, cut to a length that fits a message.
func quote(s string) string {
	const limit = 80
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}
