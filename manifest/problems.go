package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one violated rule of a manifest.
type Problem struct {
	Path string // where, such as streams[2].coverage_policy; empty for the document itself
	What string // what is wrong there
	Fix  string // how to correct it
}

func (p Problem) String() string {
	path := p.Path
	if path == "" {
		path = "manifest"
	}
	return path + ": " + p.What + "; " + p.Fix
}

// Problems are all violated rules, in order of discovery.
type Problems []Problem

// Error returns each problem on its own line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps *Problems) add(path, what, fix string) {
	*ps = append(*ps, Problem{Path: path, What: what, Fix: fix})
}

// withoutKnown removes problems at or below the path of a known problem, so that each is reported once.
func (ps Problems) withoutKnown(known Problems) Problems {
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

// asError returns nil for no problems, so that an empty list never becomes a non-nil error.
func (ps Problems) asError() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// plainName reports whether a name starts with a letter, _ or $ and contains only letters, digits, _, $ and -.
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

// memberPath returns the path of an object's key. A key that would make the path ambiguous is quoted.
func memberPath(path, name string) string {
	switch {
	case !plainName(name):
		return path + "[" + quoteShort(name) + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

// elementPath returns the path of a list's i-th value.
func elementPath(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

// quoteShort returns a value of the document, truncated to a length that fits a message.
func quoteShort(s string) string {
	const limit = 80
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}
