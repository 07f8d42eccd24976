package github

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func newAPI(t interface{ Fatal(...any) }, base string) *api {
	root, err := rootOf(base)
	if err != nil {
		t.Fatal(err)
	}
	return &api{root: root}
}

func TestNextPage(t *testing.T) {
	t.Parallel()
	const public, enterprise = "https://api.github.com", "https://git.example.com/api/v3/"
	for _, c := range []struct {
		base, link, want string
		refused          bool
	}{
		{public, ``, "", false},
		{public, `<https://api.github.com/user/repos?per_page=100&page=2>; rel="next", <https://api.github.com/user/repos?page=9>; rel="last"`, "user/repos?per_page=100&page=2", false},
		{public, `<https://api.github.com/user/repos?page=1>; rel="first", <https://api.github.com/user/123/repos?after=Y3Vyc29y>; rel="next"`, "user/123/repos?after=Y3Vyc29y", false},
		{public, `<https://api.github.com/a?q=x,y;z>; title="a, b"; rel=next`, "a?q=x,y;z", false},
		{public, `<https://api.github.com/a>; REL="prev NEXT"`, "a", false},
		{public, `<https://api.github.com/a>; rel="last"`, "", false},
		{public, `<https://api.github.com/a; rel="next"`, "", false},
		{enterprise, `<https://git.example.com/api/v3/gists?page=2>; rel="next"`, "gists?page=2", false},
		{enterprise, `<https://git.example.com/elsewhere?page=2>; rel="next"`, "", true},
		{public, `<https://api.github.com.example.net/user/repos?page=2>; rel="next"`, "", true},
		{public, `<http://api.github.com/user/repos?page=2>; rel="next"`, "", true},
		{public, `<https://someone@api.github.com/user/repos?page=2>; rel="next"`, "", true},
		{public, `</user/repos?page=2>; rel="next"`, "", true},
		{public, `<https://api.github.com/>; rel="next"`, "", true},
	} {
		got, err := newAPI(t, c.base).next(http.Header{"Link": {c.link}})
		if got != c.want || (err != nil) != c.refused {
			t.Errorf("%s: %q, %v; want %q, refused %v", c.link, got, err, c.want, c.refused)
		}
	}
}

func TestRootOf(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "api.github.com", "ftp://api.github.com", "/api/v3", "://"} {
		if _, err := rootOf(bad); err == nil {
			t.Errorf("%q is taken as an address", bad)
		}
	}
}

// FuzzNextPage shows that no Link header leads the token to another host.
func FuzzNextPage(f *testing.F) {
	f.Add(`<https://api.github.com/user/repos?page=2>; rel="next", <https://api.github.com/x>; rel="last"`)
	f.Add(`<https://evil.example/>; rel="next"`)
	f.Add(`<<>>;;rel=",next"`)
	f.Add(`<https://api.github.com/%2e%2e/a?b>;rel=next`)
	f.Fuzz(func(t *testing.T, link string) {
		a := newAPI(t, "https://api.github.com")
		next, err := a.next(http.Header{"Link": {link}})
		if err != nil || next == "" {
			return
		}
		path, query, _ := strings.Cut(next, "?")
		whole := a.root.JoinPath(path)
		whole.RawQuery = query
		to, err := url.Parse(whole.String())
		if err == nil && (to.Host != a.root.Host || to.Scheme != a.root.Scheme) {
			t.Errorf("%q leads to %s", link, to.Host)
		}
	})
}
