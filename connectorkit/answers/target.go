package answers

import (
	"maps"
	"slices"
	"strings"
)

// DecodesMember reports whether the connector decodes a member of that name.
func (s *Sheet) DecodesMember(name string) bool { return s.names[name] }

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
		t := Target{Method: r.method, Pattern: r.routePattern()}
		s.addTargets(r, &r.root, "", 0, &t)
		if len(t.Objects) == 0 && r.root.acceptsNewMember() {
			t.Objects, t.Ignored = []string{"."}, s.ignoredMembers(&r.root, "", r.method == FileMethod)
		}
		slices.Sort(t.Objects)
		out = append(out, t)
	}
	return out
}

// acceptsNewMember reports whether a further member of the object would be new.
func (n *sheetNode) acceptsNewMember() bool {
	return len(n.members) > 0 && n.members[wildcardName] == nil && n.members[elementsMember] == nil
}

// ignoredMembers lists the members of an object, deep also of objects in it, that are always there and that the
// connector does not decode. Answers of requests are often taken over with whole objects in them.
func (s *Sheet) ignoredMembers(n *sheetNode, at string, deep bool) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		m := n.members[name]
		if deep && m.acceptsNewMember() && m.kinds == objectKind {
			out = append(out, s.ignoredMembers(m, joinPath(at, name), deep)...)
		}
		if m.always && len(m.members) == 0 && m.kinds&(objectKind|listKind) == 0 && !s.names[name] {
			out = append(out, joinPath(at, name))
		}
	}
	return out
}

func (s *Sheet) addTargets(r *sheetRoute, n *sheetNode, path string, depth int, t *Target) {
	if e := n.members[elementsMember]; e != nil && e.acceptsNewMember() && depth <= 2 {
		at := joinPath(path, elementsMember)
		t.Objects, t.Ignored = append(t.Objects, at), append(t.Ignored, s.ignoredMembers(e, at, r.method == FileMethod)...)
		return
	}
	if depth < 2 {
		for name, m := range n.members {
			if name != wildcardName && !strings.Contains(name, "/") {
				s.addTargets(r, m, joinPath(path, name), depth+1, t)
			}
		}
	}
}
