package rest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/weblink"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Pager finds the pages of a list. A token identifies a page within a bookmark; the first page has none.
type Pager interface {
	// SetPage makes a request that of the page.
	SetPage(q *governhttp.Request, token string) error
	// NextPage returns the token of the page after the answered one, or "" at the end.
	NextPage(a *Answer, p PageOutcome) (string, error)
}

// PageOutcome is what is known of an answered page.
type PageOutcome struct {
	Token string           // of the page
	Items []jsontext.Value // of the page
}

// PageNumber counts pages. The list ends with an empty page, with one that has fewer items than Size, or with the last
// number.
type PageNumber struct {
	Param string
	// ZeroBased counts from 0 instead of 1.
	ZeroBased bool
	// Size is the number of items of a full page. Zero means that a page may be short before the end.
	Size int
	// Last is the path of the number of the last page. Empty means unknown.
	Last string
	// LastHeader is a header with the number of the last page instead.
	LastHeader string
	// OmitFirst leaves the number out of the first request.
	OmitFirst bool
}

func (p PageNumber) number(token string) int {
	if n, err := strconv.Atoi(token); err == nil {
		return n
	}
	if p.ZeroBased {
		return 0
	}
	return 1
}

// SetPage implements Pager.
func (p PageNumber) SetPage(q *governhttp.Request, token string) error {
	if token != "" || !p.OmitFirst {
		setParam(q, p.Param, strconv.Itoa(p.number(token)))
	}
	return nil
}

// NextPage implements Pager.
func (p PageNumber) NextPage(a *Answer, o PageOutcome) (string, error) {
	if p.Last != "" || p.LastHeader != "" {
		text := a.Header.Get(p.LastHeader)
		if p.Last != "" {
			text = a.Text(p.Last)
		}
		last, _ := strconv.Atoi(text) // without a number there is one page
		if here := p.number(o.Token); here < last {
			return strconv.Itoa(here + 1), nil
		}
		return "", nil
	}
	if len(o.Items) == 0 || len(o.Items) < p.Size {
		return "", nil
	}
	return strconv.Itoa(p.number(o.Token) + 1), nil
}

// Offset counts items. The list ends with an empty page, with one that has fewer items than Limit, or at the total.
type Offset struct {
	Param string
	// Limit is the number of items to ask for, in LimitParam. Zero asks for the provider's own number, and then only an
	// empty page or the total ends the list.
	Limit      int
	LimitParam string
	// Total is the path of the number of all items. Empty means unknown.
	Total string
	// OmitFirst leaves the offset out of the first request.
	OmitFirst bool
}

// SetPage implements Pager.
func (p Offset) SetPage(q *governhttp.Request, token string) error {
	if p.LimitParam != "" && p.Limit > 0 {
		setParam(q, p.LimitParam, strconv.Itoa(p.Limit))
	}
	if token != "" || !p.OmitFirst {
		at, _ := strconv.Atoi(token) // the first page has none
		setParam(q, p.Param, strconv.Itoa(at))
	}
	return nil
}

// NextPage implements Pager.
func (p Offset) NextPage(a *Answer, o PageOutcome) (string, error) {
	at, _ := strconv.Atoi(o.Token) // the first page has none
	at += len(o.Items)
	if len(o.Items) == 0 || len(o.Items) < p.Limit {
		return "", nil
	}
	if total, err := strconv.Atoi(a.Text(p.Total)); p.Total != "" && err == nil && at >= total {
		return "", nil
	}
	return strconv.Itoa(at), nil
}

// NextToken sends a token that the answer contains for its next page.
type NextToken struct {
	Param  string
	Member string // path of the token
	// More is the path of a boolean that is true, or a number that is 1, on each page but the last, whatever the token.
	// Empty means none.
	More string
}

// SetPage implements Pager.
func (p NextToken) SetPage(q *governhttp.Request, token string) error {
	if token != "" {
		setParam(q, p.Param, token)
	}
	return nil
}

// NextPage implements Pager.
func (p NextToken) NextPage(a *Answer, o PageOutcome) (string, error) {
	if more := string(a.Member(p.More)); p.More != "" && more != "true" && more != "1" {
		return "", nil
	}
	return differentPage(a.Text(p.Member), o.Token)
}

// NextURL follows the address of the next page in the answer.
type NextURL struct {
	Member string // path of the address
}

// SetPage implements Pager.
func (p NextURL) SetPage(q *governhttp.Request, token string) error { return setTarget(q, token) }

// NextPage implements Pager.
func (p NextURL) NextPage(a *Answer, o PageOutcome) (string, error) {
	address := a.Text(p.Member)
	if address == "" {
		return "", nil
	}
	target, err := a.Target(address)
	if err != nil {
		return "", err
	}
	return differentPage(target, o.Token)
}

// LinkHeader follows the Link header with the relation next.
type LinkHeader struct{}

// SetPage implements Pager.
func (LinkHeader) SetPage(q *governhttp.Request, token string) error { return setTarget(q, token) }

// NextPage implements Pager.
func (LinkHeader) NextPage(a *Answer, o PageOutcome) (string, error) {
	address := weblink.Next(a.Header)
	if address == "" {
		return "", nil
	}
	target, err := a.Target(address)
	if err != nil {
		return "", err
	}
	return differentPage(target, o.Token)
}

// Link is a reference of a Link header.
type Link = weblink.Link

// Links returns the references of the Link headers: <reference>; rel="next", <reference>; rel="last".
func Links(h http.Header) []Link { return weblink.Links(h) }

// differentPage returns the token, or an error if it is that of the answered page.
func differentPage(token, here string) (string, error) {
	if token != "" && token == here {
		return "", malformed(errRepeatedPage)
	}
	return token, nil
}

func setParam(q *governhttp.Request, name, value string) {
	if q.Query == nil {
		q.Query = url.Values{}
	}
	q.Query.Set(name, value)
}

// setTarget replaces path and query by those of a target below the root.
func setTarget(q *governhttp.Request, target string) error {
	if target == "" {
		return nil
	}
	path, query, _ := strings.Cut(target, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return malformed(errForeignPage)
	}
	q.Path, q.Query = path, values
	return nil
}
