package api

import (
	"net/url"
	"strings"
	"testing"
)

func TestListAddress(t *testing.T) {
	for given, want := range map[string]string{
		"/records?q=pear": "/records?q=pear",
		"/records?stream=trees&q=pear&connection=c":                                       "/records?connection=c&q=pear&stream=trees",
		"/records?q=pear&cursor=abc&order=":                                               "/records?q=pear",
		"/records/mail?source=c&until=2026-01-01&in=c%2Fm&past=x&record=c%2Fm%2F1#record": "/records/mail?source=c&until=2026-01-01",
		"/records/timeline?day=2026-03-04":                                                "/records/timeline?day=2026-03-04",
		"/records?f.state=open&gte.amount=3":                                              "/records?f.state=open&gte.amount=3",
		"/records?q=a&q=b":                                                                "/records?q=a",
		"/records":                                                                        "",
		"/records/mail?cursor=x":                                                          "",
		"/records/c/trees/1?q=pear":                                                       "",
		"/settings?q=pear":                                                                "",
		"//else.example/records?q=pear":                                                   "",
		"https://else.example/records?q=pear":                                             "",
		"https:/records?q=pear":                                                           "",
		"/records/../settings?q=x":                                                        "",
		"/records?q=" + strings.Repeat("x", 2000):                                         "",
		"/records?q=%zz":                                                                  "",
		"":                                                                                "",
	} {
		got, ok := ListAddress(given)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s is %s, %v; want %s", given, got, ok, want)
		}
	}
}

// Whatever is given: what is kept is a list of this server, and is the same when it is given again.
func FuzzListAddress(f *testing.F) {
	f.Add("/records?q=pear&cursor=x")
	f.Add("//else.example/records?q=pear")
	f.Fuzz(func(t *testing.T, given string) {
		got, ok := ListAddress(given)
		if !ok {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(got, "/records") || strings.ContainsAny(got, "\r\n \"<>\\") {
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
	for _, other := range []string{"/records?f.state=open", "/records/mail?source=c&q=x"} {
		if got, words := (SavedSearch{Address: other}).Words(); words {
			t.Errorf("%s is a search for %+v", other, got)
		}
	}
}
