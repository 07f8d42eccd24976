package api

import (
	"net/url"
	"strings"
	"testing"
)

func TestListAddress(t *testing.T) {
	for given, want := range map[string]string{
		"/search?q=pear": "/search?q=pear",
		"/search?stream=trees&q=pear&connection=c": "/search?connection=c&q=pear&" +
			"stream=trees",
		"/search?q=pear&cursor=abc&order=": "/search?q=pear",
		"/mail?source=c&until=2026-01-01&in=c%2Fm&past=x&record=c%2Fm%2F1#record": "/mail?source=c&" +
			"until=2026-01-01",
		"/day/2026-03-04": "/day/2026-03-04",
		"/search?f.state=open&gte.amount=3": "/search?f.state=open&" +
			"gte.amount=3",
		"/search?q=a&q=b":                        "/search?q=a",
		"/records":                               "",
		"/mail?cursor=x":                         "",
		"/thing/c/trees/1?q=pear":                "",
		"/settings?q=pear":                       "",
		"//else.example/records?q=pear":          "",
		"https://else.example/records?q=pear":    "",
		"https:/records?q=pear":                  "",
		"/thing/../settings?q=x":                 "",
		"/search?q=" + strings.Repeat("x", 2000): "",
		"/search?q=%zz":                          "",
		"":                                       "",
	} {
		got, ok := ListAddress(given)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s is %s, %v; want %s", given, got, ok, want)
		}
	}
}

// For any input, the result is a list address of this server, and applying ListAddress again does not change it.
func FuzzListAddress(f *testing.F) {
	f.Add("/search?q=pear&cursor=x")
	f.Add("//else.example/records?q=pear")
	f.Fuzz(func(t *testing.T, given string) {
		got, ok := ListAddress(given)
		if !ok {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Host != "" || u.Scheme != "" || !listAddress.MatchString(u.Path) ||
			strings.ContainsAny(got, "\r\n \"<>\\") {
			t.Fatalf("%q is kept as %q", given, got)
		}
		if again, ok := ListAddress(got); len(got) <= longestAddress && (!ok || again != got) {
			t.Fatalf("%q is %q, and then %q", given, got, again)
		}
	})
}

func TestSearchWords(t *testing.T) {
	q := SearchQuery{Text: "pear & tree", ConnectionID: "cin_well", Stream: "trees"}
	address, ok := ListAddress(q.Address())
	if got, words := (SavedSearch{Address: address}).Words(); !ok || !words || got != q {
		t.Errorf("%s is a search for %+v", address, got)
	}
	for _, other := range []string{"/search?f.state=open", "/mail?source=c&q=x"} {
		if got, words := (SavedSearch{Address: other}).Words(); words {
			t.Errorf("%s is a search for %+v", other, got)
		}
	}
}
