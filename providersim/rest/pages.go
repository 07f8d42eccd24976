package rest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/providersim"
)

// Style is how a request names a page.
type Style int

const (
	Whole  Style = iota // one answer holds the list
	Number              // by its number, from one
	Offset              // by the number of rows before it
	Token               // by an opaque token of the page before
)

// Pager is how a provider cuts a list into pages and announces the next one. Names of members may be paths as in
// "paging.next".
type Pager struct {
	Style Style
	Place string // parameter of the number, offset or token
	Size  string // parameter of the page size; empty means that pages have the size Usual
	Usual int    // size without the parameter; zero means that the parameter is required
	Most  int    // largest size that a request may ask for; zero is no bound
	Exact bool   // a larger size is refused instead of cut
	Cap   int    // pages are no larger than this, whatever a request asks for; zero is no bound
	Gaps  bool   // every third page but the first is empty although more follow; Token only

	Items       string // member with the rows; empty means that the answer is the list itself
	Next        string // member with the place of the next page
	End         any    // value of Next on the last page; nil is null
	Omit        bool   // the last page has no member Next
	Address     bool   // Next holds the whole address of the next page
	Link        bool   // a Link header holds the addresses of the next and the last page
	Base        string // scheme and host of addresses; empty means those of the request
	Total       string // member with the number of rows
	TotalHeader string // header with the number of rows

	// Since is the parameter of a sync token that selects changes only, deleted rows included; Sync is the member of
	// the last page with the token for the next time. With Counted they hold the number of the last change, not a token.
	Since, Sync string
	Counted     bool

	// Extend adds members to the body; nil adds none. It is not called when Items is empty.
	Extend func(r *http.Request, page Page, body Object)
}

// List is what is cut into pages.
type List[T any] struct {
	Of     string     // what a token belongs to; empty means the path and the other parameters of the request
	Params url.Values // parameters of the request; nil means its query
	All    []T
	Keep   func(T) bool // which elements the list has; nil keeps all
	Show   func(T) Object
	Hidden func(T) bool // elements that are counted in their page and not shown
	Seq    func(T) int  // number of the last change, for Pager.Since
	Extra  int          // rows that the total counts and that are not listed
}

// Page is one page of a list.
type Page struct {
	Rows                        []Object
	Number, Offset, Size, Total int
	Own, Next                   string // places, or addresses when the pager announces those
	More                        bool
	sync, last                  string
}

// cursorMark is the content of a token.
type cursorMark struct {
	Of    string `json:"o"`
	At    int    `json:"a"`           // elements that were passed
	Nth   int    `json:"n"`           // makes the token behind an empty page differ from its own
	Since int    `json:"s"`           // only later changes; -1 is everything
	Upto  int    `json:"u"`           // the last change when the walk began
	Epoch int    `json:"e,omitempty"` // see Service.Epoch
	Sync  bool   `json:"y,omitempty"`
}

// ListRows answers one page of rows. A list of changes has the rows that changed, deleted ones included; any other
// list has the live rows that keep selects.
func ListRows(s *Service, r *http.Request, p Pager, all []*Row, keep func(*Row) bool, show func(*Row) Object) Answer {
	changes := p.Since != "" && r.URL.Query().Get(p.Since) != ""
	return Serve(s, r, p, List[*Row]{All: all, Show: show, Seq: func(row *Row) int { return row.Seq },
		Hidden: func(row *Row) bool { return row.Ghost },
		Keep:   func(row *Row) bool { return (changes || !row.Gone) && (keep == nil || keep(row)) }})
}

// Serve answers one page of a list.
func Serve[T any](s *Service, r *http.Request, p Pager, l List[T]) Answer {
	page, refusal := Cut(s, r, p, l)
	if refusal.Status != 0 {
		return refusal
	}
	answer := Answer{Status: http.StatusOK, Body: page.Rows, Header: http.Header{}}
	if p.TotalHeader != "" {
		answer.Header.Set(p.TotalHeader, strconv.Itoa(page.Total))
	}
	if p.Link && page.More {
		answer.Header.Set("Link", fmt.Sprintf(`<%s>; rel="next", <%s>; rel="last"`, page.Next, page.last))
	}
	if p.Items == "" {
		return answer
	}
	body := Object{}
	SetMember(body, p.Items, page.Rows)
	if p.Next != "" && page.More {
		SetMember(body, p.Next, page.Next)
	} else if p.Next != "" && !p.Omit {
		SetMember(body, p.Next, p.End)
	}
	if p.Total != "" {
		SetMember(body, p.Total, page.Total)
	}
	if p.Sync != "" && p.Counted {
		SetMember(body, p.Sync, s.Seq)
	} else if page.sync != "" {
		SetMember(body, p.Sync, page.sync)
	}
	if p.Extend != nil {
		p.Extend(r, page, body)
	}
	answer.Body = body
	return answer
}

// Cut cuts the page that a request asks for. A refused request returns an answer with a status.
func Cut[T any](s *Service, r *http.Request, p Pager, l List[T]) (page Page, refusal Answer) {
	if l.Params == nil {
		l.Params = r.URL.Query()
	}
	size, right := p.size(l.Params)
	if !right {
		return page, s.Refuse(r, BadParameter, p.Size)
	}
	if l.Of == "" {
		other := maps.Clone(l.Params)
		for _, name := range []string{p.Place, p.Size, p.Since} {
			other.Del(name)
		}
		l.Of = r.URL.Path + "?" + other.Encode()
	}
	here := cursorMark{Of: l.Of, Since: -1, Upto: s.Seq, Epoch: s.Epoch}
	if refusal = s.since(r, p, l.Params, &here); refusal.Status != 0 {
		return page, refusal
	}
	keep := func(x T) bool { return (l.Keep == nil || l.Keep(x)) && (here.Since < 0 || l.Seq(x) > here.Since) }
	fault := providersim.PageFaultFrom(r.Context())
	page = Page{Size: size, Number: 1, Rows: []Object{}, Total: l.Extra}
	all := l.All
	if p.Style != Token {
		all = Filter(l.All, keep)
		keep = func(T) bool { return true }
	}
	switch p.Style {
	case Whole:
		page.Size, size = len(all), len(all)
	case Number:
		if page.Number, right = NumberParameter(l.Params, p.Place, 1); page.Number < 1 {
			right = false
		}
		page.Offset = min(page.Number-1, len(all)) * size // no overflow
	case Offset:
		page.Offset, right = NumberParameter(l.Params, p.Place, 0)
	case Token:
		if own, place := here, l.Params.Get(p.Place); place != "" {
			right = s.signer.Open(place, &here) && here.Of == own.Of && !here.Sync && here.Since == own.Since &&
				here.Epoch == s.Epoch
		}
		page.Offset = here.At
	}
	if !right {
		return page, s.Refuse(r, BadParameter, p.Place)
	}
	if s.served++; p.Gaps && here.At > 0 && s.served%3 == 0 {
		size = 0
	}
	at, room := min(page.Offset, len(all)), fault.Size(size)
	for ; at < len(all) && room > 0; at++ {
		if !keep(all[at]) {
			continue
		}
		if room--; l.Hidden == nil || !l.Hidden(all[at]) {
			page.Rows = append(page.Rows, l.Show(all[at]))
		}
	}
	for i, x := range l.All {
		if l.Keep == nil || l.Keep(x) {
			page.Total++
		}
		page.More = page.More || p.Style == Token && i >= at && keep(x)
	}
	next := here
	next.At, next.Nth = at, here.Nth+1
	page.Own, page.Next = s.signer.Seal(here), s.signer.Seal(next)
	switch p.Style {
	case Number:
		page.Own, page.Next = strconv.Itoa(page.Number), strconv.Itoa(page.Number+1)
		page.More = page.Offset+size < len(all)
	case Offset:
		page.Own, page.Next, page.More = strconv.Itoa(page.Offset), strconv.Itoa(at), at < len(all)
	}
	if p.Address || p.Link {
		to := func(place string) string { return p.address(r, l.Params, place, size) }
		page.Own, page.Next, page.last = to(page.Own), to(page.Next), to(strconv.Itoa((len(all)+size-1)/max(size, 1)))
	}
	if page.Next, page.More = fault.Next(page.Own, page.Next, page.More); !page.More && p.Sync != "" {
		page.sync = s.signer.Seal(cursorMark{Of: l.Of, Upto: here.Upto, Epoch: s.Epoch, Sync: true})
	}
	return page, Answer{}
}

// size returns the size of a page, and whether the request may ask for it.
func (p Pager) size(q url.Values) (int, bool) {
	size, right := NumberParameter(q, p.Size, p.Usual)
	if p.Style == Whole {
		return 0, true
	}
	if !right || size < 1 || p.Exact && size > p.Most {
		return 0, false
	}
	if p.Most > 0 {
		size = min(size, p.Most)
	}
	if p.Cap > 0 {
		size = min(size, p.Cap)
	}
	return size, true
}

// since reads the sync token or number of a request into here.
func (s *Service) since(r *http.Request, p Pager, q url.Values, here *cursorMark) Answer {
	if p.Since == "" || q.Get(p.Since) == "" {
		return Answer{}
	}
	if p.Counted {
		n, right := NumberParameter(q, p.Since, 0)
		if here.Since = n; !right {
			return s.Refuse(r, BadParameter, p.Since)
		}
		return Answer{}
	}
	var mark cursorMark
	if !s.signer.Open(q.Get(p.Since), &mark) || !mark.Sync || mark.Of != here.Of {
		return s.Refuse(r, BadParameter, p.Since)
	}
	if mark.Epoch != s.Epoch {
		return s.Refuse(r, CursorEnded, p.Since)
	}
	here.Since = mark.Upto
	return Answer{}
}

// address returns the address of a page.
func (p Pager) address(r *http.Request, q url.Values, place string, size int) string {
	to := maps.Clone(q)
	if to.Set(p.Place, place); p.Size != "" && !q.Has(p.Size) {
		to.Set(p.Size, strconv.Itoa(size))
	}
	base := p.Base
	if base == "" {
		base = "http://" + r.Host
	}
	return base + r.URL.Path + "?" + to.Encode()
}

// NumberParameter reads a parameter that is a whole number, zero or more. A missing one has the value usual.
func NumberParameter(q url.Values, name string, usual int) (int, bool) {
	if !q.Has(name) {
		return usual, true
	}
	n, err := strconv.Atoi(q.Get(name))
	return n, err == nil && n >= 0
}

// SetMember sets a member by its path, as in "paging.next".
func SetMember(o Object, path string, value any) {
	first, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		o[first] = value
		return
	}
	inner, is := o[first].(Object)
	if !is {
		inner = Object{}
		o[first] = inner
	}
	SetMember(inner, rest, value)
}
