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
		s.targets(&r.root, "", 0, &t)
		if len(t.Objects) == 0 && r.root.open() {
			t.Objects = []string{"."}
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

func (s *Sheet) targets(n *node, path string, depth int, t *Target) {
	if e := n.members[elements]; e != nil && e.open() && depth <= 2 {
		at := join(path, elements)
		t.Objects = append(t.Objects, at)
		for _, name := range slices.Sorted(maps.Keys(e.members)) {
			m := e.members[name]
			if m.always && len(m.members) == 0 && m.kinds&(object|list) == 0 && !s.names[name] {
				t.Ignored = append(t.Ignored, join(at, name))
			}
		}
		return
	}
	if depth < 2 {
		for name, m := range n.members {
			if name != anyName && !strings.Contains(name, "/") {
				s.targets(m, join(path, name), depth+1, t)
			}
		}
	}
}
