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
	routes []*route
	names  map[string]bool // members that the connector decodes somewhere
	byHand string          // the part that is written by hand, as it is
	hand   map[string]bool // names of that part
}

// route is one kind of request and what is known of its answers.
type route struct {
	method   string
	segments []string
	root     node
	answers  int // that it was learned from
}

// node is what is known of one value.
type node struct {
	members map[string]*node // by name; "*" matches any name, "[]" for the elements of a list
	kinds   kinds
	always  bool

	objects, present int // while a sheet is learned: objects met here, and objects that had the member
	fixed            bool
}

const (
	anyName  = "*"
	anyPath  = "**"
	elements = "[]"
	handMark = "# by hand"
)

// Parse reads a sheet.
func Parse(sheet string) (*Sheet, error) {
	s := &Sheet{names: map[string]bool{}, hand: map[string]bool{}}
	byHand := false
	if at := strings.Index(sheet, handMark); at >= 0 {
		s.byHand = sheet[at:]
	}
	var in *route
	for i, line := range strings.Split(sheet, "\n") {
		words := strings.Fields(line)
		byHand = byHand || strings.HasPrefix(line, handMark)
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
			in = s.routeOf(words[0], words[1])
		case in == nil:
			return nil, fmt.Errorf("line %d: a member without a route", i+1)
		default:
			if err := in.add(words[0], words[1]); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	for _, r := range s.routes {
		if r.root.kinds == 0 && r.root.members[elements] == nil {
			r.root.kinds = object
		}
	}
	return s, nil
}

// routeOf finds the route of exactly that pattern, or adds one.
func (s *Sheet) routeOf(method, pattern string) *route {
	for _, r := range s.routes {
		if r.method == method && r.pattern() == pattern {
			return r
		}
	}
	r := &route{method: method, segments: strings.Split(strings.Trim(pattern, "/"), "/")}
	s.routes = append(s.routes, r)
	return r
}

func (r *route) pattern() string { return strings.Join(r.segments, "/") }

// String is the route as a report shows it.
func (r *route) String() string { return r.method + " " + r.pattern() }

func (r *route) add(path, kindWords string) error {
	path, always := strings.CutSuffix(path, "!")
	n := &r.root
	if path != "." {
		for step := range strings.SplitSeq(path, "/") {
			n = n.member(unescape(step))
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

func (n *node) member(name string) *node {
	if n.members == nil {
		n.members = map[string]*node{}
	}
	m := n.members[name]
	if m == nil {
		m = &node{}
		n.members[name] = m
	}
	return m
}

var escapes, unescapes = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

func escape(name string) string   { return escapes.Replace(name) }
func unescape(name string) string { return unescapes.Replace(name) }

// find returns the route of a request. A pattern is compared with the end of the path, because a
// server may be installed below a path of its own; the longest pattern with the fewest wildcards
// wins.
func (s *Sheet) find(method, path string) *route {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	var best *route
	for _, r := range s.routes {
		if r.method == method && r.matches(segments) && (best == nil || r.closer(best)) {
			best = r
		}
	}
	return best
}

func (r *route) matches(path []string) bool {
	if r.pattern() == anyPath {
		return true
	}
	if len(path) < len(r.segments) || len(path) > len(r.segments) && len(r.segments) < 2 {
		return false // one word at the end of a path identifies no route
	}
	path = path[len(path)-len(r.segments):]
	for i, want := range r.segments {
		if want != anyName && want != path[i] {
			return false
		}
	}
	return true
}

func (r *route) closer(than *route) bool {
	if than.pattern() == anyPath || r.pattern() == anyPath {
		return r.pattern() != anyPath
	}
	if len(r.segments) != len(than.segments) {
		return len(r.segments) > len(than.segments)
	}
	return strings.Count(r.pattern(), anyName) < strings.Count(than.pattern(), anyName)
}

// String writes the sheet, what is by hand last.
func (s *Sheet) String() string {
	var b strings.Builder
	slices.SortFunc(s.routes, func(a, b *route) int {
		return strings.Compare(a.pattern()+" "+a.method, b.pattern()+" "+b.method)
	})
	for _, r := range s.routes {
		if r.answers == 0 {
			continue // it is by hand
		}
		fmt.Fprintf(&b, "%s %s\n", r.method, r.pattern())
		if r.root.kinds == list {
			b.WriteString("\t.! list\n")
		}
		r.root.write(&b, "")
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

func (n *node) write(b *strings.Builder, path string) {
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		m := n.members[name]
		at := path + escape(name)
		if m.kinds != 0 {
			mark := ""
			if m.always {
				mark = "!"
			}
			fmt.Fprintf(b, "\t%s%s %s\n", at, mark, m.kinds)
		}
		m.write(b, at+"/")
	}
}

// Learn adds the answer to a request of that pattern to the sheet.
func (s *Sheet) Learn(method, pattern, contentType string, body []byte) bool {
	v, ok := read(contentType, body)
	if !ok {
		return false
	}
	r := s.routeOf(method, pattern)
	r.answers++
	r.root.learn(&v)
	return true
}

func (n *node) learn(v *value) {
	n.kinds |= v.kind
	if v.kind == list {
		for i := range v.parts {
			e := n.member(elements)
			e.present++
			e.learn(&v.parts[i])
		}
		return
	}
	if v.kind != object {
		return
	}
	if v.cut && len(v.members) == 0 || n.members[anyPath] != nil {
		return // nothing of it was looked at, or it is not to be
	}
	n.objects++ // a member behind the cut counts as absent, and so is not expected always
	open := n.members[anyName]
	had := map[string]bool{}
	for i := range v.members {
		m := &v.members[i]
		into := open
		if into == nil {
			into = n.member(m.name)
		}
		if into.learn(&m.value); !had[m.name] {
			had[m.name] = true
			into.present++
		}
	}
}

// Settle ends the learning: it marks what every answer had, and collapses objects with
// data as member names.
func (s *Sheet) Settle(decoded []string) {
	for _, name := range decoded {
		s.names[name] = true
	}
	for _, r := range s.routes {
		r.root.settle()
	}
}

func (n *node) settle() {
	for name := range n.members {
		if name != anyName && name != elements && !protocol.PlainMember(name) {
			n.collapse()
			break
		}
	}
	for name, m := range n.members {
		if !m.fixed || m.present > 0 {
			m.always = name != anyName && (name == elements || n.objects > 0 && m.present == n.objects)
		}
		m.settle()
	}
}

// collapse makes one of all members.
func (n *node) collapse() {
	all := &node{}
	for _, m := range n.members {
		all.join(m)
	}
	n.members = map[string]*node{anyName: all}
}

func (n *node) join(other *node) {
	n.kinds |= other.kinds
	n.objects += other.objects
	n.present += other.present
	for name, m := range other.members {
		n.member(name).join(m)
	}
}

// structural are wildcards of simulators that stand for a part of the address and not for data.
var structural = []string{"{list}", "{call}", "{method}", "{kind}", "{collection}"}

// Pattern is how a sheet names a request: by the simulator's own pattern where it has one, as in
// "GET /repos/{owner}/{repo}", by a route of the sheet that matches, or by its path with the
// segments that look like data left open.
func (s *Sheet) Pattern(method, path, pattern string) string {
	if r := s.find(method, path); r != nil {
		return r.pattern()
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
		if slices.Contains(structural, one) {
			one = segments[i]
		}
		if own[i] = one; strings.HasPrefix(one, "{") || !protocol.PlainMember(one) {
			own[i] = anyName
		}
	}
	return strings.Join(own, "/")
}
