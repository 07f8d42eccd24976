package answers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// firstAnswers of each route and stream are compared, and then one in everyAnswer.
	firstAnswers = 4
	everyAnswer  = 256
	// maxLists bounds the lists of a stream that are remembered.
	maxLists = 256
	// maxUnknown is how many new members one object may have before their names are taken for data.
	maxUnknown = 8
)

// Comparison compares the answers of one run with a sheet. It is safe for concurrent use.
type Comparison struct {
	sheet   func() *Sheet
	learned *Sheet // gets what is read of files, which is then not compared

	mu      sync.Mutex
	streams map[string]*part
}

// part is what was compared while one stream was collected.
type part struct {
	answers int64
	routes  map[*route]*tally
	found   map[difference]*count
	more    int64
	short   map[string]*page // lists with a small first page, by address without the place in the list
	lists   map[string]bool  // lists of which an answer was compared, by the same
}

type tally struct {
	asked            int
	objects, present map[*node]int64
}

type difference struct {
	kind            protocol.DifferenceKind
	route, member   string
	expected, found string
}

type count struct{ n, of int64 }

// page is the first page of a list: how much was asked for, and how much came.
type page struct {
	route        string
	asked, items int
}

// Compare begins a comparison. The sheet is read when the first answer comes.
func Compare(sheet string) *Comparison {
	return &Comparison{streams: map[string]*part{}, sheet: sync.OnceValue(func() *Sheet {
		s, err := Parse(sheet)
		if err != nil {
			return &Sheet{}
		}
		return s
	})}
}

// Answer compares one answer that came while the stream was collected.
func (c *Comparison) Answer(stream, method string, to *url.URL, header http.Header, body []byte) {
	r := c.sheet().find(method, to.Path)
	if r == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w, chosen := c.sample(stream, r)
	if !chosen {
		if len(w.p.short) > 0 {
			delete(w.p.short, listOf(to.Path, to.Query())) // it goes on, with how much is not known
		}
		return
	}
	v, ok := read(header.Get("Content-Type"), body)
	if !ok {
		return
	}
	w.p.answers++
	w.compare(&r.root, &v, "")
	w.p.measure(r, to, &v)
}

// sample counts one more answer of a route and reports whether that answer is compared: the
// first ones are, and later every so many.
func (c *Comparison) sample(stream string, r *route) (w walker, chosen bool) {
	p := c.part(stream)
	t := p.tally(r)
	if t.asked++; t.asked > firstAnswers && t.asked%everyAnswer != 0 {
		return walker{p: p}, false
	}
	return c.walker(p, r), true
}

// walker returns what compares one answer of a route with the sheet.
func (c *Comparison) walker(p *part, r *route) walker {
	return walker{p: p, t: p.tally(r), route: r.String(), names: c.sheet().names}
}

func (c *Comparison) part(stream string) *part {
	p := c.streams[stream]
	if p == nil {
		p = &part{routes: map[*route]*tally{}, found: map[difference]*count{}, short: map[string]*page{},
			lists: map[string]bool{}}
		c.streams[stream] = p
	}
	return p
}

func (p *part) tally(r *route) *tally {
	t := p.routes[r]
	if t == nil {
		t = &tally{objects: map[*node]int64{}, present: map[*node]int64{}}
		p.routes[r] = t
	}
	return t
}

// sizeNames are the parameters by which lists are asked for in pages.
var sizeNames = []string{"limit", "per_page", "page_size", "pageSize", "maxResults", "count", "size"}

// roundSizes are what providers bound pages by.
var roundSizes = []int{10, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 400, 500, 1000}

// totalNames are members that hold the length of a list.
var totalNames = []string{"total", "total_count", "totalItems", "totalPeople"}

// placeWords are in the names of parameters that say where in a list a page begins.
var placeWords = []string{"page", "cursor", "offset", "token", "start", "after", "before", "since", "until", "latest",
	"oldest", "marker", "skip"}

// listOf is the address of a list, whatever page of it is asked for.
func listOf(path string, query url.Values) string {
	for name := range query {
		lower := strings.ToLower(name)
		if slices.ContainsFunc(placeWords, func(word string) bool { return strings.Contains(lower, word) }) {
			delete(query, name)
		}
	}
	return path + "?" + query.Encode()
}

// measure notes the first page of a list that is shorter than was asked for, and exactly as long
// as a bound of the provider could be. A later page with anything on it proves it harmless. A list
// with a total is left to the connector, which compares that.
func (p *part) measure(r *route, to *url.URL, v *value) {
	for _, name := range totalNames {
		if r.root.members[name] != nil {
			return
		}
	}
	query := to.Query()
	asked := 0
	for _, name := range sizeNames {
		if n, err := strconv.Atoi(query.Get(name)); err == nil {
			asked = n
		}
	}
	items, key := v.longest(), listOf(to.Path, query)
	switch {
	case p.lists[key] && items > 0:
		delete(p.short, key)
	case !p.lists[key] && len(p.lists) < maxLists:
		if p.lists[key] = true; items < asked && slices.Contains(roundSizes, items) {
			p.short[key] = &page{route: r.String(), asked: asked, items: items}
		}
	}
}

// longest is the length of the answer's own list: of the answer itself, or of the longest list
// among its members.
func (v *value) longest() int {
	n := v.length
	for i := range v.members {
		n = max(n, v.members[i].value.length)
	}
	return n
}

// walker compares one answer.
type walker struct {
	p     *part
	t     *tally
	route string
	names map[string]bool
}

func (w *walker) compare(n *node, v *value, path string) {
	if known := n.kinds &^ null; known != 0 && v.kind != null && v.kind&known == 0 {
		w.note(difference{protocol.OtherType, w.route, path, known.String(), v.kind.String()})
		return
	}
	switch v.kind {
	case list:
		e := n.members[elements]
		for i := range v.parts {
			if e != nil {
				w.compare(e, &v.parts[i], join(path, elements))
			}
		}
	case object:
		w.object(n, v, path)
	}
}

func (w *walker) object(n *node, v *value, path string) {
	if n.members[anyPath] != nil {
		return
	}
	if open := n.members[anyName]; open != nil {
		for i := range v.members {
			if m := n.members[v.members[i].name]; m != nil {
				w.compare(m, &v.members[i].value, join(path, v.members[i].name))
				continue
			}
			w.compare(open, &v.members[i].value, join(path, anyName))
		}
		return
	}
	if len(n.members) == 0 {
		return // nothing is known of what it holds
	}
	var unknown []string
	known := 0
	had := map[*node]bool{}
	for i := range v.members {
		m := &v.members[i]
		child := n.members[m.name]
		switch {
		case child != nil:
			known++
			if !had[child] {
				had[child] = true
				w.t.present[child]++
			}
			w.compare(child, &m.value, join(path, m.name))
		case !w.names[m.name] && !slices.Contains(unknown, m.name):
			unknown = append(unknown, m.name)
		}
	}
	if !v.cut {
		w.t.objects[n]++
	}
	// An object without any member that is known, or with many that are not, has data for names.
	hide := known == 0 || len(unknown) > maxUnknown
	for _, name := range unknown {
		if hide || !protocol.PlainMember(name) {
			name = protocol.HiddenMember
		}
		w.note(difference{kind: protocol.NewMember, route: w.route, member: join(path, name)})
		if hide {
			break
		}
	}
}

func (w *walker) note(d difference) {
	if known := w.p.found[d]; known != nil {
		known.n++
		return
	}
	if len(w.p.found) >= protocol.MaxDifferences {
		w.p.more++
		return
	}
	w.p.found[d] = &count{n: 1}
}

func join(path, name string) string {
	if name != elements && name != anyName && name != protocol.HiddenMember {
		name = escape(name)
	}
	if path == "" {
		return name
	}
	return path + "/" + name
}

// Report is what was found while the stream was collected; nil when no answer was compared. From
// nothing shows that the stream was read from its beginning: only then is a short page the end of
// a list.
func (c *Comparison) Report(stream string, fromNothing bool) *protocol.AnswerDrift {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.streams[stream]
	if p == nil || p.answers == 0 {
		return nil
	}
	for r, t := range p.routes {
		w := walker{p: p, t: t, route: r.String()}
		w.absent(&r.root, "")
	}
	out := &protocol.AnswerDrift{Answers: p.answers, More: p.more}
	for d, n := range p.found {
		out.Differences = append(out.Differences, protocol.AnswerDifference{
			Kind: d.kind, Route: d.route, Member: d.member, Expected: d.expected, Found: d.found, Count: n.n, Of: n.of,
		})
	}
	for _, one := range p.short {
		if fromNothing {
			out.Differences = append(out.Differences, protocol.AnswerDifference{
				Kind: protocol.SmallPage, Route: one.route, Count: int64(one.items), Of: int64(one.asked),
			})
		}
	}
	slices.SortFunc(out.Differences, func(a, b protocol.AnswerDifference) int {
		return strings.Compare(a.Route+" "+a.Member+" "+string(a.Kind), b.Route+" "+b.Member+" "+string(b.Kind))
	})
	if n := len(out.Differences) - protocol.MaxDifferences; n > 0 {
		out.Differences, out.More = out.Differences[:protocol.MaxDifferences], out.More+int64(n)
	}
	return out
}

// absent notes the members that every object of the sheet has and that none here had.
func (w *walker) absent(n *node, path string) {
	for name, m := range n.members {
		if seen := w.t.objects[n]; m.always && name != elements && seen > 0 && w.t.present[m] == 0 {
			d := difference{kind: protocol.AbsentMember, route: w.route, member: join(path, name)}
			if w.note(d); w.p.found[d] != nil {
				*w.p.found[d] = count{n: seen, of: seen}
			}
		}
		w.absent(m, join(path, name))
	}
}
