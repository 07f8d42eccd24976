package answers

import (
	"maps"
	"slices"
	"strings"
)

// Decodes reports whether the connector decodes a member of that name.
func (s *Sheet) Decodes(name string) bool { return s.names[name] }

// Target is a route of a sheet and where its answers can change without harm to a connector.
type Target struct {
	Method, Pattern string
	// Objects can get a further member: the elements of the answer's lists, or the answer itself.
	Objects []string
	// Ignored are members of those objects that are always there and that the connector does not
	// decode.
	Ignored []string
}

// Targets lists the routes that were learned or written by hand.
func (s *Sheet) Targets() []Target {
	var out []Target
	for _, r := range s.routes {
		t := Target{Method: r.method, Pattern: r.pattern()}
		s.targets(r, &r.root, "", 0, &t)
		if len(t.Objects) == 0 && r.root.open() {
			t.Objects, t.Ignored = []string{"."}, s.ignored(&r.root, "", r.method == OfFile)
		}
		slices.Sort(t.Objects)
		out = append(out, t)
	}
	return out
}

// open reports whether a further member of the object would be new.
func (n *node) open() bool {
	return len(n.members) > 0 && n.members[anyName] == nil && n.members[elements] == nil
}

// ignored lists the members of an object, deep also of objects in it, that are always there and that the connector does
// not decode. Answers of requests are often taken over with whole objects in them.
func (s *Sheet) ignored(n *node, at string, deep bool) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		m := n.members[name]
		if deep && m.open() && m.kinds == object {
			out = append(out, s.ignored(m, join(at, name), deep)...)
		}
		if m.always && len(m.members) == 0 && m.kinds&(object|list) == 0 && !s.names[name] {
			out = append(out, join(at, name))
		}
	}
	return out
}

func (s *Sheet) targets(r *route, n *node, path string, depth int, t *Target) {
	if e := n.members[elements]; e != nil && e.open() && depth <= 2 {
		at := join(path, elements)
		t.Objects, t.Ignored = append(t.Objects, at), append(t.Ignored, s.ignored(e, at, r.method == OfFile)...)
		return
	}
	if depth < 2 {
		for name, m := range n.members {
			if name != anyName && !strings.Contains(name, "/") {
				s.targets(r, m, join(path, name), depth+1, t)
			}
		}
	}
}
