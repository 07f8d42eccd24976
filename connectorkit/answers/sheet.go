package answers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// Sheet is what a connector knows of its provider's answers.
type Sheet struct {
	routes []*sheetRoute
	names  map[string]bool // members that the connector decodes somewhere
	byHand string          // the part that is written by hand, as it is
	hand   map[string]bool // names of that part
}

// sheetRoute is one kind of request and what is known of its answers.
type sheetRoute struct {
	method   string
	segments []string
	root     sheetNode
	answers  int // that it was learned from
}

// sheetNode is what is known of one value.
type sheetNode struct {
	members map[string]*sheetNode // by name; "*" matches any name, "[]" for the elements of a list
	kinds   valueKinds
	always  bool

	objects, present int // while a sheet is learned: objects met here, and objects that had the member
	fixed            bool
}

const (
	wildcardName    = "*"
	wildcardPath    = "**"
	elementsMember  = "[]"
	handWrittenMark = "# by hand"
)

// ParseSheet reads a sheet.
func ParseSheet(sheet string) (*Sheet, error) {
	s := &Sheet{names: map[string]bool{}, hand: map[string]bool{}}
	byHand := false
	if at := strings.Index(sheet, handWrittenMark); at >= 0 {
		s.byHand = sheet[at:]
	}
	var in *sheetRoute
	for i, line := range strings.Split(sheet, "\n") {
		words := strings.Fields(line)
		byHand = byHand || strings.HasPrefix(line, handWrittenMark)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case words[0] == "names" && line[0] != '\t':
			for _, name := range words[1:] {
				s.names[name] = true
				s.hand[name] = s.hand[name] || byHand
			}
		case len(words) != 2:
			return nil, fmt.Errorf("line %d: two words are needed", i+1)
		case line[0] != '\t':
			in = s.routeFor(words[0], words[1])
		case in == nil:
			return nil, fmt.Errorf("line %d: a member without a route", i+1)
		default:
			if err := in.addPath(words[0], words[1]); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	for _, r := range s.routes {
		if r.root.kinds == 0 && r.root.members[elementsMember] == nil {
			r.root.kinds = objectKind
		}
	}
	return s, nil
}

// routeFor finds the route of exactly that pattern, or adds one.
func (s *Sheet) routeFor(method, pattern string) *sheetRoute {
	for _, r := range s.routes {
		if r.method == method && r.routePattern() == pattern {
			return r
		}
	}
	r := &sheetRoute{method: method, segments: strings.Split(strings.Trim(pattern, "/"), "/")}
	s.routes = append(s.routes, r)
	return r
}

func (r *sheetRoute) routePattern() string { return strings.Join(r.segments, "/") }

// String is the route as a report shows it.
func (r *sheetRoute) String() string { return r.method + " " + r.routePattern() }

func (r *sheetRoute) addPath(path, kindWords string) error {
	path, always := strings.CutSuffix(path, "!")
	n := &r.root
	if path != "." {
		for step := range strings.SplitSeq(path, "/") {
			n = n.memberNode(unescapeName(step))
		}
	}
	n.always, n.fixed = always, true
	for word := range strings.SplitSeq(kindWords, "|") {
		i := slices.Index(kindNames, word)
		if i < 0 {
			return fmt.Errorf("%q is no kind", word)
		}
		n.kinds |= 1 << i
	}
	return nil
}

func (n *sheetNode) memberNode(name string) *sheetNode {
	if n.members == nil {
		n.members = map[string]*sheetNode{}
	}
	m := n.members[name]
	if m == nil {
		m = &sheetNode{}
		n.members[name] = m
	}
	return m
}

var nameEscapes, nameUnescapes = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

func escapeName(name string) string   { return nameEscapes.Replace(name) }
func unescapeName(name string) string { return nameUnescapes.Replace(name) }

// findRoute returns the route of a request. A pattern is compared with the end of the path, because a
// server may be installed below a path of its own; the longest pattern with the fewest wildcards
// wins.
func (s *Sheet) findRoute(method, path string) *sheetRoute {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	var best *sheetRoute
	for _, r := range s.routes {
		if r.method == method && r.matchesPath(segments) && (best == nil || r.isMoreSpecific(best)) {
			best = r
		}
	}
	return best
}

func (r *sheetRoute) matchesPath(path []string) bool {
	if r.routePattern() == wildcardPath {
		return true
	}
	if len(path) < len(r.segments) || len(path) > len(r.segments) && len(r.segments) < 2 {
		return false // one word at the end of a path identifies no route
	}
	path = path[len(path)-len(r.segments):]
	for i, want := range r.segments {
		if want != wildcardName && want != path[i] {
			return false
		}
	}
	return true
}

func (r *sheetRoute) isMoreSpecific(than *sheetRoute) bool {
	if than.routePattern() == wildcardPath || r.routePattern() == wildcardPath {
		return r.routePattern() != wildcardPath
	}
	if len(r.segments) != len(than.segments) {
		return len(r.segments) > len(than.segments)
	}
	return strings.Count(r.routePattern(), wildcardName) < strings.Count(than.routePattern(), wildcardName)
}

// String writes the sheet, what is by hand last.
func (s *Sheet) String() string {
	var b strings.Builder
	slices.SortFunc(s.routes, func(a, b *sheetRoute) int {
		return strings.Compare(a.routePattern()+" "+a.method, b.routePattern()+" "+b.method)
	})
	for _, r := range s.routes {
		if r.answers == 0 {
			continue // it is by hand
		}
		fmt.Fprintf(&b, "%s %s\n", r.method, r.routePattern())
		if r.root.kinds == listKind {
			b.WriteString("\t.! list\n")
		}
		r.root.writeNode(&b, "")
	}
	names := maps.Clone(s.names)
	maps.DeleteFunc(names, func(name string, _ bool) bool { return s.hand[name] })
	if len(names) > 0 {
		fmt.Fprintf(&b, "names %s\n", strings.Join(slices.Sorted(maps.Keys(names)), " "))
	}
	if s.byHand != "" {
		b.WriteString("\n" + s.byHand)
	}
	return b.String()
}

func (n *sheetNode) writeNode(b *strings.Builder, path string) {
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		m := n.members[name]
		at := path + escapeName(name)
		if m.kinds != 0 {
			mark := ""
			if m.always {
				mark = "!"
			}
			fmt.Fprintf(b, "\t%s%s %s\n", at, mark, m.kinds)
		}
		m.writeNode(b, at+"/")
	}
}

// LearnAnswer adds the answer to a request of that pattern to the sheet.
func (s *Sheet) LearnAnswer(method, pattern, contentType string, body []byte) bool {
	v, ok := readShape(contentType, body)
	if !ok {
		return false
	}
	r := s.routeFor(method, pattern)
	r.answers++
	r.root.learnValue(&v)
	return true
}

func (n *sheetNode) learnValue(v *answerValue) {
	n.kinds |= v.kind
	if v.kind == listKind {
		for i := range v.parts {
			e := n.memberNode(elementsMember)
			e.present++
			e.learnValue(&v.parts[i])
		}
		return
	}
	if v.kind != objectKind {
		return
	}
	if v.cut && len(v.members) == 0 || n.members[wildcardPath] != nil {
		return // nothing of it was looked at, or it is not to be
	}
	n.objects++ // a member behind the cut counts as absent, and so is not expected always
	open := n.members[wildcardName]
	had := map[string]bool{}
	for i := range v.members {
		m := &v.members[i]
		into := open
		if into == nil {
			into = n.memberNode(m.name)
		}
		if into.learnValue(&m.value); !had[m.name] {
			had[m.name] = true
			into.present++
		}
	}
}

// FinishLearning ends the learning: it marks what every answer had, and collapses objects with
// data as member names.
func (s *Sheet) FinishLearning(decoded []string) {
	for _, name := range decoded {
		s.names[name] = true
	}
	for _, r := range s.routes {
		r.root.markRequired()
	}
}

func (n *sheetNode) markRequired() {
	for name := range n.members {
		if name != wildcardName && name != elementsMember && !protocol.PlainMember(name) {
			n.collapseMembers()
			break
		}
	}
	for name, m := range n.members {
		if !m.fixed || m.present > 0 {
			m.always = name != wildcardName && (name == elementsMember || n.objects > 0 && m.present == n.objects)
		}
		m.markRequired()
	}
}

// collapseMembers makes one of all members.
func (n *sheetNode) collapseMembers() {
	all := &sheetNode{}
	for _, m := range n.members {
		all.mergeNode(m)
	}
	n.members = map[string]*sheetNode{wildcardName: all}
}

func (n *sheetNode) mergeNode(other *sheetNode) {
	n.kinds |= other.kinds
	n.objects += other.objects
	n.present += other.present
	for name, m := range other.members {
		n.memberNode(name).mergeNode(m)
	}
}

// structuralWildcards are wildcards of simulators for a fixed part of the address, not for data.
var structuralWildcards = []string{"{list}", "{call}", "{method}", "{kind}", "{collection}"}

// RequestPattern is how a sheet names a request: by the simulator's own pattern where it has one, as in
// "GET /repos/{owner}/{repo}", by a route of the sheet that matches, or by its path with the
// segments that look like data left open.
func (s *Sheet) RequestPattern(method, path, pattern string) string {
	if r := s.findRoute(method, path); r != nil {
		return r.routePattern()
	}
	if _, rest, ok := strings.Cut(pattern, " "); ok {
		pattern = rest
	}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	own := strings.Split(strings.Trim(strings.TrimSuffix(pattern, "{$}"), "/"), "/")
	if pattern == "" || pattern == "/" || strings.HasSuffix(pattern, "/") || len(own) != len(segments) {
		own = segments
	}
	own = slices.Clone(own)
	for i, one := range own {
		if slices.Contains(structuralWildcards, one) {
			one = segments[i]
		}
		if own[i] = one; strings.HasPrefix(one, "{") || !protocol.PlainMember(one) {
			own[i] = wildcardName
		}
	}
	return strings.Join(own, "/")
}
