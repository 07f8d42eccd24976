package rest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// linkTarget follows a Link header below a root.
func linkTarget(t testing.TB, base, link string) (*url.URL, string, error) {
	t.Helper()
	root, err := parseRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	a := &Answer{Response: &governhttp.Response{Header: http.Header{"Link": {link}}}, run: &Run{root: root}}
	target, err := LinkHeader{}.NextPage(a, PageOutcome{})
	return root, target, err
}

// The provider chooses the path of the next page, but not its host.
func TestNextLink(t *testing.T) {
	t.Parallel()
	const public, enterprise = "https://api.example", "https://git.example/api/v3/"
	for _, c := range []struct {
		base, link, want string
		refused          bool
	}{
		{public, ``, "", false},
		{public, `<https://api.example/l?n=9&page=2>; rel="next", <https://api.example/l?page=9>; rel="last"`, "l?n=9&page=2",
			false},
		{public, `<https://api.example/l?page=1>; rel="first", <https://api.example/1/l?a=Y3>; rel="next"`, "1/l?a=Y3",
			false},
		{public, `<https://api.example/a?q=x,y;z>; title="a, b"; rel=next`, "a?q=x,y;z", false},
		{public, `<https://api.example/a>; REL="prev NEXT"`, "a", false},
		{public, `<https://api.example/a>; rel="last"`, "", false},
		{public, `<https://api.example/a; rel="next"`, "", false},
		{enterprise, `<https://git.example/api/v3/gists?page=2>; rel="next"`, "gists?page=2", false},
		{enterprise, `<https://git.example/elsewhere?page=2>; rel="next"`, "", true},
		{public, `<https://api.example.net/l?page=2>; rel="next"`, "", true},
		{public, `<http://api.example/l?page=2>; rel="next"`, "", true},
		{public, `<https://someone@api.example/l?page=2>; rel="next"`, "", true},
		{public, `</l?page=2>; rel="next"`, "", true},
		{public, `<https://api.example/>; rel="next"`, "", true},
	} {
		if _, got, err := linkTarget(t, c.base, c.link); got != c.want || (err != nil) != c.refused {
			t.Errorf("%s: %q, %v; want %q, refused %v", c.link, got, err, c.want, c.refused)
		}
	}
	for _, bad := range []string{"", "api.example", "ftp://api.example", "/api/v3", "://"} {
		if _, err := parseRoot(bad); err == nil {
			t.Errorf("%q is accepted as an address", bad)
		}
	}
}

// FuzzNextLink shows that no Link header leads the token to another host.
func FuzzNextLink(f *testing.F) {
	f.Add(`<https://api.example/l?page=2>; rel="next", <https://api.example/x>; rel="last"`)
	f.Add(`<https://evil.example/>; rel="next"`)
	f.Add(`<<>>;;rel=",next"`)
	f.Add(`<https://api.example/%2e%2e/a?b>;rel=next`)
	f.Fuzz(func(t *testing.T, link string) {
		root, next, err := linkTarget(t, "https://api.example", link)
		if err != nil || next == "" {
			return
		}
		path, query, _ := strings.Cut(next, "?")
		whole := root.JoinPath(path)
		whole.RawQuery = query
		to, err := url.Parse(whole.String())
		if err == nil && (to.Host != root.Host || to.Scheme != root.Scheme) {
			t.Errorf("%q leads to %s", link, to.Host)
		}
	})
}
