package declarative

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// leaf is a member of an answer that a template reads: a path in the body, or the name of a header.
type leaf struct {
	header bool
	path   string // names with zero bytes between them
}

// family computes the value of a leaf for any page.
type family func(f facts) any

type absentValue struct{}

// absent is the value of a member that an answer does not have.
var absent = absentValue{}

// leavesOf returns the members of an answer that templates read, without those that contain the items.
func (e *endpoint) leavesOf(templates ...document.Template) []leaf {
	var out []leaf
	for _, t := range templates {
		if !t.IsSet() {
			continue
		}
		for _, path := range t.Paths() {
			if len(path.Members) == 0 {
				continue
			}
			switch path.Variable {
			case expression.Headers:
				out = append(out, leaf{true, path.Members[0]})
			case expression.Response:
				if !slices.ContainsFunc(e.readers, func(r *reader) bool { return overlaps(r.path, path.Members) }) {
					out = append(out, leaf{false, strings.Join(path.Members, "\x00")})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b leaf) int { return strings.Compare(a.path, b.path) })
	out = slices.Compact(out)
	// The members that are read make the object.
	return slices.DeleteFunc(slices.Clone(out), func(l leaf) bool {
		return slices.ContainsFunc(out, func(o leaf) bool {
			return !l.header && !o.header && strings.HasPrefix(o.path, l.path+"\x00")
		})
	})
}

// overlaps reports whether a path leads to the items, or to an object around them, or into them.
func overlaps(items, path []string) bool {
	n := min(len(items), len(path))
	return len(items) > 0 && slices.Equal(items[:n], path[:n])
}

const maxAssignments = 6000

// solvePages finds values of the leaves with which the templates of a cursor lead through three pages. It reports
// whether there are any.
func (e *endpoint) solvePages(s *document.CursorPagination, declared int) bool {
	leaves := e.leavesOf(s.CursorValue, s.StopCondition)
	source := s.CursorValue.Source()
	if s.StopCondition.IsSet() {
		source += " " + s.StopCondition.Source()
	}
	sizes := []int{3}
	if declared > 0 && declared <= 1000 {
		sizes = append(sizes, declared)
	}
	for _, text := range wholeNumber.FindAllString(source, -1) {
		if n, err := strconv.Atoi(text); err == nil && n > 1 && n <= 1000 && !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	options := make([][]family, len(leaves))
	for i, l := range leaves {
		options[i] = e.familiesOf(l, source)
	}
	tried := 0
	for _, emptyEnd := range []bool{false, true} {
		for _, size := range sizes {
			e.size, e.paging.emptyEnd = size, emptyEnd
			rows := e.sampleRows(2*size + max(1, size/2))
			choice := make([]int, len(leaves))
			for {
				e.paging.families = map[leaf]family{}
				for i, l := range leaves {
					e.paging.families[l] = options[i][choice[i]]
				}
				if e.leadsThrough(s, rows) {
					return true
				}
				if tried += 1 + size/5; tried > maxAssignments || !advance(choice, options) {
					break
				}
			}
		}
	}
	e.size, e.paging.emptyEnd = 3, false
	e.problem = "no answer was found with which the templates of its pages lead to a second and a last page"
	e.stopAtOnce(s, leaves, options)
	return false
}

var wholeNumber = regexp.MustCompile(`\b[0-9]+\b`)

// advance moves to the next combination and reports whether there is one.
func advance(choice []int, options [][]family) bool {
	for i := range choice {
		if choice[i]++; choice[i] < len(options[i]) {
			return true
		}
		choice[i] = 0
	}
	return false
}

// leadsThrough reports whether a client that follows the templates asks for every page once and then stops.
func (e *endpoint) leadsThrough(s *document.CursorPagination, rows []*placed) bool {
	seen := map[string]bool{}
	count := e.pageCount(len(rows))
	for k := 1; k <= count; k++ {
		own, f := e.pageOf(rows, k)
		e.address(&f, "https://sample.example/list", fmt.Sprint("sample.", k+1))
		body, header := e.answerBody(nil, own, f)
		token, stop, err := e.follow(s, body, header, own)
		if err != nil || stop != (k == count) {
			return false
		}
		if stop {
			return true
		}
		text := expression.Print(token)
		if seen[text] || !e.usable(text) {
			return false
		}
		seen[text] = true
	}
	return false
}

// usable reports whether a token leads back to this provider: as an address it must contain the marker.
func (e *endpoint) usable(token string) bool {
	if _, ok := e.paginator().PageOption.(*document.RequestPath); ok {
		return strings.Contains(token, markerName+"=")
	}
	return !strings.Contains(token, "{{")
}

// stopAtOnce finds values with which a client stops after the first page.
func (e *endpoint) stopAtOnce(s *document.CursorPagination, leaves []leaf, options [][]family) {
	e.paging.all = true
	choice := make([]int, len(leaves))
	rows := e.sampleRows(3)
	for tried := 0; tried < maxAssignments; tried++ {
		e.paging.families = map[leaf]family{}
		for i, l := range leaves {
			e.paging.families[l] = options[i][choice[i]]
		}
		own, f := e.pageOf(rows, 1)
		body, header := e.answerBody(nil, own, f)
		if _, stop, err := e.follow(s, body, header, own); err == nil && stop || !advance(choice, options) {
			return
		}
	}
}

// sampleRows returns rows that belong to no partition.
func (e *endpoint) sampleRows(n int) []*placed {
	count := e.p.count
	defer func() { e.p.count = count }()
	var out []*placed
	for i := range n {
		out = append(out, &placed{e.newRow(e.from.Add(time.Duration(i) * time.Second)), i})
	}
	return out
}

// markerName is the parameter by which the provider knows the pages that it announced as addresses.
const markerName = "generated_page"

// address fills in the address of the next page.
func (e *endpoint) address(f *facts, base, marker string) {
	f.address, f.marker = base, marker
}

// addressNames are the parameters in which templates look for the token of an address.
var addressNames = []string{"cursor", "after", "page_token", "next", "starting_after", "start", "page", "offset"}

// next returns the address of the next page. It has all the names by which templates look for a token in an address.
func (f facts) next() string {
	to, err := url.Parse(f.address)
	if err != nil {
		return f.address
	}
	q := to.Query()
	q.Set(markerName, f.marker)
	to.RawQuery = q.Encode()
	token := url.QueryEscape(f.token())
	extra := ""
	for _, name := range addressNames {
		v := token
		switch name {
		case "page":
			v = strconv.Itoa(f.start + f.k)
		case "offset":
			v = strconv.Itoa(f.before + f.n)
		}
		if !q.Has(name) {
			extra += "&" + name + "=" + v
		}
	}
	to.RawQuery += extra
	return to.String()
}

func (f facts) token() string { return fmt.Sprintf("t%dx%s", f.k+1, f.marker) }

// familiesOf returns what a leaf may be, the likeliest first.
func (e *endpoint) familiesOf(l leaf, source string) []family {
	whenMore := func(v func(facts) any, end any) family {
		return func(f facts) any {
			if f.more() {
				return v(f)
			}
			return end
		}
	}
	token := func(f facts) any { return f.token() }
	next := func(f facts) any { return f.next() }
	relative := func(f facts) any {
		to, err := url.Parse(f.next())
		if err != nil {
			return ""
		}
		return to.RequestURI()
	}
	number := func(f facts) any { return f.start + f.k }
	offset := func(f facts) any { return f.before + f.n }
	if l.header && strings.EqualFold(l.path, "link") {
		return []family{whenMore(func(f facts) any { return linkValue(f.next()) }, absent)}
	}
	texts := []family{whenMore(token, nil), whenMore(token, absent), whenMore(token, "")}
	addresses := []family{whenMore(next, nil), whenMore(next, absent), whenMore(next, ""),
		whenMore(relative, nil), whenMore(relative, absent)}
	numbers := []family{whenMore(number, nil), whenMore(number, absent), whenMore(offset, nil),
		func(f facts) any { return f.start + f.k - 1 }, // the number of this page
		func(f facts) any { return f.pages },
		func(f facts) any { return f.start + f.pages - 1 },
		func(f facts) any { return f.total },
		func(f facts) any { return f.size },
		func(f facts) any { return f.before },
		func(f facts) any { return f.n },
		func(f facts) any { return f.total - f.before - f.n },
	}
	flags := []family{func(f facts) any { return f.more() }, func(f facts) any { return !f.more() }}
	constants := []family{func(facts) any { return absent }, func(facts) any { return nil },
		func(facts) any { return true }, func(facts) any { return "" }}
	links := []family{func(f facts) any {
		list := []any{map[string]any{"rel": "self", "href": f.address, "url": f.address}}
		if f.more() {
			list = append(list, map[string]any{"rel": "next", "href": f.next(), "url": f.next()})
		}
		return list
	}}
	for _, found := range quotedText.FindAllStringSubmatch(source, -1) {
		if text := found[1] + found[2]; text != "" {
			constants = append(constants, whenMore(func(facts) any { return text }, absent),
				whenMore(func(facts) any { return "other" }, text))
		}
	}
	name := strings.ToLower(l.path[strings.LastIndexByte(l.path, 0)+1:])
	groups := [][]family{texts, addresses, numbers, flags, constants, links}
	first := 0
	switch _, replaces := e.paginator().PageOption.(*document.RequestPath); {
	case strings.Contains(name, "more") || strings.HasPrefix(name, "has") || strings.HasPrefix(name, "is"):
		first = 3
	case replaces || strings.Contains(name, "url") || strings.Contains(name, "link") || strings.Contains(name, "href"):
		first = 1
	case strings.Contains(name, "total") || strings.Contains(name, "count") || strings.Contains(name, "page") &&
		!strings.Contains(name, "token") || strings.Contains(name, "offset") || strings.Contains(name, "limit"):
		first = 2
	}
	out := slices.Clone(groups[first])
	for i, group := range groups {
		if i != first {
			out = append(out, group...)
		}
	}
	return out
}

// solveErrors finds values of members with which no error rule of the document matches a good answer.
func (e *endpoint) solveErrors() {
	e.extra = map[leaf]any{}
	for _, r := range e.readers {
		for _, f := range filtersOf(r.Retriever.Requester.ErrorHandler) {
			if f.Action == "SUCCESS" || !f.Predicate.IsSet() {
				continue
			}
			e.solveRule(f)
		}
	}
}

func filtersOf(c document.Component) []*document.ResponseFilter {
	switch h := c.(type) {
	case *document.ErrorHandler:
		return h.Filters
	case *document.CompositeHandler:
		var out []*document.ResponseFilter
		for _, inner := range h.Handlers {
			out = append(out, filtersOf(inner)...)
		}
		return out
	}
	return nil
}

func (e *endpoint) solveRule(f *document.ResponseFilter) {
	leaves := slices.DeleteFunc(e.leavesOf(f.Predicate), func(l leaf) bool { return l.header })
	values := []any{absent, 0, "ok", true, false, 200, nil, "success", "", map[string]any{}, []any{}}
	for _, found := range quotedText.FindAllStringSubmatch(f.Predicate.Source(), -1) {
		values = append(values, found[1]+found[2])
	}
	matches := func() bool {
		body, header := e.answerBody(nil, e.sampleRows(1), facts{k: 1, pages: 1, n: 1, total: 1})
		c := e.p.context(f)
		c.Set(expression.Response, expression.LazyJSON(body))
		c.Set(expression.Headers, headersValue(header))
		holds, err := f.Predicate.Bool(c)
		return err != nil || holds
	}
	if !matches() {
		return
	}
	for _, l := range leaves {
		before, had := e.extra[l]
		for _, v := range values {
			if e.extra[l] = v; !matches() {
				return
			}
		}
		if delete(e.extra, l); had {
			e.extra[l] = before
		}
	}
}
