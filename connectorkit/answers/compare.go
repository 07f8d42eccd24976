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
	// firstAnswers of each route and stream are compared, and then one in answerInterval.
	firstAnswers   = 4
	answerInterval = 256
	// maxRememberedLists bounds the lists of a stream that are remembered.
	maxRememberedLists = 256
	// maxNewMembers is how many new members one object may have before their names are taken for data.
	maxNewMembers = 8
)

// Comparison compares the answers of one run with a sheet. It is safe for concurrent use.
type Comparison struct {
	sheet   func() *Sheet
	learned *Sheet // gets what is read of files, which is then not compared

	mu      sync.Mutex
	streams map[string]*streamComparison
}

// streamComparison is what was compared while one stream was collected.
type streamComparison struct {
	answers int64
	routes  map[*sheetRoute]*routeTally
	found   map[difference]*memberCount
	more    int64
	short   map[string]*firstListPage // lists with a small first page, by address without the place in the list
	lists   map[string]bool           // lists of which an answer was compared, by the same
}

type routeTally struct {
	asked            int
	objects, present map[*sheetNode]int64
}

type difference struct {
	kind            protocol.DifferenceKind
	route, member   string
	expected, found string
}

type memberCount struct{ n, of int64 }

// firstListPage is the first page of a list: how much was asked for, and how much came.
type firstListPage struct {
	route        string
	asked, items int
}

// Compare begins a comparison. The sheet is read when the first answer comes.
func Compare(sheet string) *Comparison {
	return &Comparison{streams: map[string]*streamComparison{}, sheet: sync.OnceValue(func() *Sheet {
		s, err := ParseSheet(sheet)
		if err != nil {
			return &Sheet{}
		}
		return s
	})}
}

// Answer compares one answer that came while the stream was collected.
func (c *Comparison) Answer(stream, method string, to *url.URL, header http.Header, body []byte) {
	r := c.sheet().findRoute(method, to.Path)
	if r == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w, chosen := c.sampleAnswer(stream, r)
	if !chosen {
		if len(w.p.short) > 0 {
			delete(w.p.short, listAddress(to.Path, to.Query())) // it goes on, with how much is not known
		}
		return
	}
	v, ok := readShape(header.Get("Content-Type"), body)
	if !ok {
		return
	}
	w.p.answers++
	w.compareValue(&r.root, &v, "")
	w.p.noteShortPage(r, to, &v)
}

// sampleAnswer counts one more answer of a route and reports whether that answer is compared: the
// first ones are, and later every so many.
func (c *Comparison) sampleAnswer(stream string, r *sheetRoute) (w answerWalker, chosen bool) {
	p := c.streamPart(stream)
	t := p.routeTally(r)
	if t.asked++; t.asked > firstAnswers && t.asked%answerInterval != 0 {
		return answerWalker{p: p}, false
	}
	return c.newAnswerWalker(p, r), true
}

// newAnswerWalker returns what compares one answer of a route with the sheet.
func (c *Comparison) newAnswerWalker(p *streamComparison, r *sheetRoute) answerWalker {
	return answerWalker{p: p, t: p.routeTally(r), route: r.String(), names: c.sheet().names}
}

func (c *Comparison) streamPart(stream string) *streamComparison {
	p := c.streams[stream]
	if p == nil {
		p = &streamComparison{routes: map[*sheetRoute]*routeTally{}, found: map[difference]*memberCount{},
			short: map[string]*firstListPage{},
			lists: map[string]bool{}}
		c.streams[stream] = p
	}
	return p
}

func (p *streamComparison) routeTally(r *sheetRoute) *routeTally {
	t := p.routes[r]
	if t == nil {
		t = &routeTally{objects: map[*sheetNode]int64{}, present: map[*sheetNode]int64{}}
		p.routes[r] = t
	}
	return t
}

// pageSizeParameters are the parameters by which lists are asked for in pages.
var pageSizeParameters = []string{"limit", "per_page", "page_size", "pageSize", "maxResults", "count", "size"}

// usualPageSizes are what providers bound pages by.
var usualPageSizes = []int{10, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 400, 500, 1000}

// totalMembers are members that hold the length of a list.
var totalMembers = []string{"total", "total_count", "totalItems", "totalPeople"}

// pagePlaceWords are parts of the names of parameters that select the place of a page in its list.
var pagePlaceWords = []string{"page", "cursor", "offset", "token", "start", "after", "before", "since", "until",
	"latest",
	"oldest", "marker", "skip"}

// listAddress is the address of a list, whatever page of it is asked for.
func listAddress(path string, query url.Values) string {
	for name := range query {
		lower := strings.ToLower(name)
		if slices.ContainsFunc(pagePlaceWords, func(word string) bool { return strings.Contains(lower, word) }) {
			delete(query, name)
		}
	}
	return path + "?" + query.Encode()
}

// noteShortPage notes the first page of a list that is shorter than was asked for, and exactly as long
// as a bound of the provider could be. A later page with anything on it proves it harmless. A list
// with a total is left to the connector, which compares that.
func (p *streamComparison) noteShortPage(r *sheetRoute, to *url.URL, v *answerValue) {
	for _, name := range totalMembers {
		if r.root.members[name] != nil {
			return
		}
	}
	query := to.Query()
	asked := 0
	for _, name := range pageSizeParameters {
		if n, err := strconv.Atoi(query.Get(name)); err == nil {
			asked = n
		}
	}
	items, key := v.longestList(), listAddress(to.Path, query)
	switch {
	case p.lists[key] && items > 0:
		delete(p.short, key)
	case !p.lists[key] && len(p.lists) < maxRememberedLists:
		if p.lists[key] = true; items < asked && slices.Contains(usualPageSizes, items) {
			p.short[key] = &firstListPage{route: r.String(), asked: asked, items: items}
		}
	}
}

// longestList is the length of the answer's own list: of the answer itself, or of the longest list
// among its members.
func (v *answerValue) longestList() int {
	n := v.length
	for i := range v.members {
		n = max(n, v.members[i].value.length)
	}
	return n
}

// answerWalker compares one answer.
type answerWalker struct {
	p     *streamComparison
	t     *routeTally
	route string
	names map[string]bool
}

func (w *answerWalker) compareValue(n *sheetNode, v *answerValue, path string) {
	if known := n.kinds &^ nullKind; known != 0 && v.kind != nullKind && v.kind&known == 0 {
		w.noteDifference(difference{protocol.OtherType, w.route, path, known.String(), v.kind.String()})
		return
	}
	switch v.kind {
	case listKind:
		e := n.members[elementsMember]
		for i := range v.parts {
			if e != nil {
				w.compareValue(e, &v.parts[i], joinPath(path, elementsMember))
			}
		}
	case objectKind:
		w.compareObject(n, v, path)
	}
}

func (w *answerWalker) compareObject(n *sheetNode, v *answerValue, path string) {
	if n.members[wildcardPath] != nil {
		return
	}
	if open := n.members[wildcardName]; open != nil {
		for i := range v.members {
			if m := n.members[v.members[i].name]; m != nil {
				w.compareValue(m, &v.members[i].value, joinPath(path, v.members[i].name))
				continue
			}
			w.compareValue(open, &v.members[i].value, joinPath(path, wildcardName))
		}
		return
	}
	if len(n.members) == 0 {
		return // nothing is known of what it holds
	}
	var unknown []string
	known := 0
	had := map[*sheetNode]bool{}
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
			w.compareValue(child, &m.value, joinPath(path, m.name))
		case !w.names[m.name] && !slices.Contains(unknown, m.name):
			unknown = append(unknown, m.name)
		}
	}
	if !v.cut {
		w.t.objects[n]++
	}
	// An object without any member that is known, or with many that are not, has data for names.
	hide := known == 0 || len(unknown) > maxNewMembers
	for _, name := range unknown {
		if hide || !protocol.PlainMember(name) {
			name = protocol.HiddenMember
		}
		w.noteDifference(difference{kind: protocol.NewMember, route: w.route, member: joinPath(path, name)})
		if hide {
			break
		}
	}
}

func (w *answerWalker) noteDifference(d difference) {
	if known := w.p.found[d]; known != nil {
		known.n++
		return
	}
	if len(w.p.found) >= protocol.MaxDifferences {
		w.p.more++
		return
	}
	w.p.found[d] = &memberCount{n: 1}
}

func joinPath(path, name string) string {
	if name != elementsMember && name != wildcardName && name != protocol.HiddenMember {
		name = escapeName(name)
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
		w := answerWalker{p: p, t: t, route: r.String()}
		w.noteAbsent(&r.root, "")
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

// noteAbsent notes the members that every object of the sheet has and that none here had.
func (w *answerWalker) noteAbsent(n *sheetNode, path string) {
	for name, m := range n.members {
		if seen := w.t.objects[n]; m.always && name != elementsMember && seen > 0 && w.t.present[m] == 0 {
			d := difference{kind: protocol.AbsentMember, route: w.route, member: joinPath(path, name)}
			if w.noteDifference(d); w.p.found[d] != nil {
				*w.p.found[d] = memberCount{n: seen, of: seen}
			}
		}
		w.noteAbsent(m, joinPath(path, name))
	}
}
