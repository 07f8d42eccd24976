package browser

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"
	"github.com/google/go-cmp/cmp"
)

// missingCookies returns the cookies that the browser lost, and none older than those that it has.
func TestMissingCookies(t *testing.T) {
	now := time.Unix(1000, 0)
	c := func(name, value string, expires float64) *network.Cookie {
		return &network.Cookie{Name: name, Value: value, Domain: "shelf.example", Path: "/", Expires: expires,
			Session: expires < 0}
	}
	for name, test := range map[string]struct {
		saved, have []*network.Cookie
		want        []string
	}{
		"lost":     {[]*network.Cookie{c("a", "1", 2000), c("b", "1", -1)}, nil, []string{"a=1", "b=1"}},
		"over":     {[]*network.Cookie{c("a", "1", 1000), c("b", "1", 999)}, nil, nil},
		"the same": {[]*network.Cookie{c("a", "1", 2000)}, []*network.Cookie{c("a", "1", 1500)}, nil},
		"the browser's is late": {[]*network.Cookie{c("a", "2", 3000)}, []*network.Cookie{c("a", "1", 2000)},
			[]string{"a=2"}},
		"ours is late":    {[]*network.Cookie{c("a", "1", 2000)}, []*network.Cookie{c("a", "2", 3000)}, nil},
		"no telling":      {[]*network.Cookie{c("a", "1", 2000)}, []*network.Cookie{c("a", "2", 2000)}, nil},
		"of this session": {[]*network.Cookie{c("a", "1", -1)}, []*network.Cookie{c("a", "2", -1)}, nil},
		"nothing":         {[]*network.Cookie{nil}, nil, nil},
	} {
		var got []string
		for _, p := range missingCookies(test.saved, test.have, now) {
			got = append(got, p.Name+"="+p.Value)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestSessionMark(t *testing.T) {
	c := func(name, domain, value string) *network.Cookie {
		return &network.Cookie{Name: name, Domain: domain, Path: "/", Value: value}
	}
	before := []*network.Cookie{c("session.0", ".shelf.example", "1"), c("ad", "shelf.example", "1"),
		c("session.0", "other.example", "1")}
	mark := func(all []*network.Cookie, pattern string) string {
		return sessionMark(all, "www.shelf.example", pattern)
	}
	for name, test := range map[string]struct {
		after   []*network.Cookie
		pattern string
		changes bool
	}{
		"another order": {[]*network.Cookie{before[2], before[1], before[0]}, "session.*", false},
		"another value": {[]*network.Cookie{c("session.0", ".shelf.example", "2"), before[1], before[2]}, "session.*",
			true},
		"another part":         {append(slices.Clone(before), c("session.1", "www.shelf.example", "1")), "session.*", true},
		"gone":                 {before[1:], "session.*", true},
		"of another name":      {[]*network.Cookie{before[0], c("ad", "shelf.example", "2"), before[2]}, "session.*", false},
		"any of the site's":    {[]*network.Cookie{before[0], c("ad", "shelf.example", "2"), before[2]}, "", true},
		"of another site":      {[]*network.Cookie{before[0], before[1], c("session.0", "other.example", "2")}, "", false},
		"one name, not others": {append(slices.Clone(before), c("session.1", "www.shelf.example", "1")), "session.0", false},
		"a name that ends so":  {append(slices.Clone(before), c("ad", "notshelf.example", "1")), "", false},
	} {
		if changed := mark(before, test.pattern) != mark(test.after, test.pattern); changed != test.changes {
			t.Errorf("%s: changed %v", name, changed)
		}
	}
}

// Every kind of cookie that Chromium stores is equal after saving, losing and restoring it.
func TestCookiesComeBack(t *testing.T) {
	b := lend(t)
	ctx := within(t, time.Minute)
	b.web.mux.HandleFunc("GET /c/set", func(w http.ResponseWriter, r *http.Request) {
		for _, c := range []*http.Cookie{
			{Name: "plain", Value: "a b", Path: "/", MaxAge: 3600},
			{Name: "passing", Value: "1", Path: "/c"},
			{Name: "__Host-secure", Value: "2", Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
				MaxAge: 3600},
			{Name: "__Secure-none", Value: "3", Path: "/", Secure: true, SameSite: http.SameSiteNoneMode},
			{Name: "split", Value: "4", Path: "/", Secure: true, SameSite: http.SameSiteNoneMode, Partitioned: true,
				MaxAge: 3600},
		} {
			http.SetCookie(w, c)
		}
	})
	clearAll := func(ctx context.Context) {
		_, err := cdp.Call(ctx, b.process.browser, storage.ClearCookies, storage.ClearCookiesParams{})
		must(t, err)
	}
	clearAll(ctx)
	defer clearAll(context.Background())
	must(t, b.Page().Goto(ctx, b.web.URL+"/c/set"))
	sorted := func() []*network.Cookie {
		all, err := browserCookies(ctx, b.process)
		must(t, err)
		slices.SortFunc(all, func(a, b *network.Cookie) int { return strings.Compare(a.Name, b.Name) })
		return all
	}
	before := sorted()
	if len(before) != 5 {
		t.Fatalf("%d cookies were set", len(before))
	}
	must(t, saveSession(ctx, b.process, b.binding.Home))
	if info, err := os.Stat(filepath.Join(b.binding.Home, sessionFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	clearAll(ctx)
	must(t, restoreSession(ctx, b.process, b.binding.Home))
	if diff := cmp.Diff(before, sorted()); diff != "" {
		t.Error(diff)
	}
	must(t, os.WriteFile(filepath.Join(b.binding.Home, sessionFile), []byte(`{"cookies":[{"na`), 0o600))
	must(t, restoreSession(ctx, b.process, b.binding.Home)) // a broken file is no hindrance
}
