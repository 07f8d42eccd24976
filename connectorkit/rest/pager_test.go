package rest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// A pager walks from request to request. Each answer is a body or, after a |, a Link header. @l is the list.
func TestPagers(t *testing.T) {
	t.Parallel()
	const same = "the next page is one that was already read"
	const foreign = "the next page is not below the provider's root"
	for name, c := range map[string]struct {
		pager   Pager
		answers []string // with as many items as the member n has
		want    string   // requests, or the error
	}{
		"page number":             {PageNumber{Param: "p"}, []string{`{"n":2}`, `{"n":1}`, `{"n":0}`}, "p=1 p=2 p=3"},
		"page number, short page": {PageNumber{Param: "p", Size: 2}, []string{`{"n":2}`, `{"n":1}`}, "p=1 p=2"},
		"page number, last page": {PageNumber{Param: "p", Last: "z"},
			[]string{`{"n":0,"z":2}`, `{"n":1,"z":2}`}, "p=1 p=2"},
		"page number, last page in a header": {PageNumber{Param: "p", LastHeader: "Link"},
			[]string{`{"n":0}|2`, `{"n":1}|2`}, "p=1 p=2"},
		"page number from zero":   {PageNumber{Param: "p", ZeroBased: true}, []string{`{"n":1}`, `{"n":0}`}, "p=0 p=1"},
		"page number, first bare": {PageNumber{Param: "p", OmitFirst: true}, []string{`{"n":1}`, `{"n":0}`}, " p=2"},
		"offset":                  {Offset{Param: "o"}, []string{`{"n":2}`, `{"n":1}`, `{"n":0}`}, "o=0 o=2 o=3"},
		"offset, limit": {Offset{Param: "o", Limit: 2, LimitParam: "l"}, []string{`{"n":2}`, `{"n":1}`},
			"l=2&o=0 l=2&o=2"},
		"offset, total":      {Offset{Param: "o", Total: "t"}, []string{`{"n":2,"t":3}`, `{"n":1,"t":3}`}, "o=0 o=2"},
		"offset, first bare": {Offset{Param: "o", OmitFirst: true}, []string{`{"n":2}`, `{"n":0}`}, " o=2"},
		"token":              {NextToken{Param: "t", Member: "a.b"}, []string{`{"a":{"b":"x y"}}`, `{"a":{}}`}, " t=x+y"},
		"token, a number":    {NextToken{Param: "t", Member: "a"}, []string{`{"a":7}`, `{"a":null}`}, " t=7"},
		"token, more": {NextToken{Param: "t", Member: "a", More: "m"},
			[]string{`{"a":"x","m":true}`, `{"a":"y","m":false}`}, " t=x"},
		"token, more by a number": {NextToken{Param: "t", Member: "a", More: "m"},
			[]string{`{"a":"x","m":1}`, `{"a":"y","m":0}`}, " t=x"},
		"token, the same":   {NextToken{Param: "t", Member: "a"}, []string{`{"a":"x"}`, `{"a":"x"}`}, same},
		"address":           {NextURL{Member: "next"}, []string{`{"next":"@l?c=1&s=2"}`, `{"next":null}`}, " c=1&s=2"},
		"address, the same": {NextURL{Member: "next"}, []string{`{"next":"@l?c=1"}`, `{"next":"@l?c=1"}`}, same},
		"address, another host": {NextURL{Member: "next"}, []string{`{"next":"https://api.example.evil/v1/l?c=1"}`},
			foreign},
		"address, another scheme":  {NextURL{Member: "next"}, []string{`{"next":"http://api.example/v1/l?c=1"}`}, foreign},
		"address, a user":          {NextURL{Member: "next"}, []string{`{"next":"https://me@api.example/v1/l"}`}, foreign},
		"address, above the root":  {NextURL{Member: "next"}, []string{`{"next":"https://api.example/v1/../l"}`}, foreign},
		"address, beside the root": {NextURL{Member: "next"}, []string{`{"next":"https://api.example/v2/l"}`}, foreign},
		"Link": {LinkHeader{}, []string{`{}|<@l?p=1>; rel="prev", <@l?p=3,4>; rel="next"`, `{}|<@l>; rel=first`},
			" p=3%2C4"},
		"Link, other spelling":  {LinkHeader{}, []string{`{}|<@l?p=3>; title="a; b" ; REL=next`, `{}`}, " p=3"},
		"Link, another host":    {LinkHeader{}, []string{`{}|<https://evil.example/v1/l?p=3>; rel="next"`}, foreign},
		"Link that never ends":  {LinkHeader{}, []string{`{}|<@l`}, ""},
		"Link without relation": {LinkHeader{}, []string{`{}|<@l>, x`}, ""},
	} {
		root, err := parseRoot("https://api.example/v1/")
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		token := ""
		for _, answer := range c.answers {
			q := governhttp.Request{Path: "l"}
			if err := c.pager.SetPage(&q, token); err != nil {
				t.Fatal(err)
			}
			if q.Path != "l" {
				t.Errorf("%s: asks for %s", name, q.Path)
			}
			asked = append(asked, q.Query.Encode())
			body, link, _ := strings.Cut(strings.ReplaceAll(answer, "@l", "https://api.example/v1/l"), "|")
			a := &Answer{Response: &governhttp.Response{Body: []byte(body), Header: http.Header{"Link": {link}}},
				run: &Run{root: root}}
			n, _ := strconv.Atoi(a.Text("n"))
			if token, err = c.pager.NextPage(a, PageOutcome{Token: token, Items: make([]jsontext.Value, n)}); err != nil {
				break
			}
		}
		got := strings.Join(asked, " ")
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "malformed_answer: ")
		} else if token != "" {
			t.Errorf("%s: does not end, but with %q", name, token)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
