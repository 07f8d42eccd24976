package auth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestRedirectStaysHere(t *testing.T) {
	b := newBed(t)
	for next, want := range map[string]string{
		"/search?stream=messages": "/search?stream=messages", "": "/", "/": "/",
		"https://evil.example/": "/", "//evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/",
		"/\t/evil.example": "/",
		"\t//evil.example": "/", "javascript:alert(1)": "/", "evil.example": "/", "/a\r\nSet-Cookie: x=y": "/",
		"///evil.example": "/",
		"/%zz":            "/", "/logout": "/", "/login?next=/x": "/", "/" + strings.Repeat("a", 3000): "/",
	} {
		a := b.request("POST", "/login").sending("password", password, "next", next).by(browser())
		if got := a.Header.Get("Location"); a.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%.40q: %d to %q", next, a.StatusCode, got)
		}
		if a := b.request("GET", "/login?next="+url.QueryEscape(next)).by(browser()); a.body != "[form "+want+"] " {
			t.Errorf("%.40q: the page reads %s", next, a.body)
		}
	}
	for path, want := range map[string]string{"//evil.example/x": "/login", "/a?b=//c": "/login?next=%2Fa%3Fb%3D%2F%2Fc"} {
		// The mux cleans a path before any handler sees it; either way it stays here.
		a := b.request("GET", path).by(browser())
		if got := a.Header.Get("Location"); got != want && !strings.HasPrefix(got, "/evil.example") {
			t.Errorf("%s: to %q", path, got)
		}
	}
}

func TestEndedSessionIsToldToEveryKindOfRequest(t *testing.T) {
	b := newBed(t)
	a := b.request("GET", "/fragment").with("HX-Request", "true").with("HX-Current-URL",
		b.url+"/sources/c1?tab=runs").by(browser())
	if a.StatusCode != http.StatusUnauthorized ||
		a.Header.Get("HX-Redirect") != "/login?next=%2Fsources%2Fc1%3Ftab%3Druns" || a.body != "" {
		t.Errorf("htmx: %d %v", a.StatusCode, a.Header)
	}
	a = b.request("GET", "/fragment").with("HX-Request", "true").with("HX-Current-URL",
		"https://evil.example//evil.example").by(browser())
	if a.Header.Get("HX-Redirect") != "/login" {
		t.Errorf("htmx from elsewhere: %v", a.Header)
	}
	a = b.request("GET", "/events").with("Accept", "text/event-stream").by(browser())
	if a.StatusCode != http.StatusUnauthorized || !strings.Contains(a.body, `"code":"authentication_error"`) {
		t.Errorf("events: %d %s", a.StatusCode, a.body)
	}
	a = b.request("POST", "/sources/c1/run").by(browser())
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/login" {
		t.Errorf("a form: %d %v", a.StatusCode, a.Header)
	}
	a = b.request("GET", "/_ref/x").by(browser())
	if a.StatusCode != http.StatusUnauthorized || a.Header.Get("WWW-Authenticate") != `Bearer realm="pdpp"` ||
		!strings.Contains(a.body, `"request_id":"req_`) {
		t.Errorf("a program: %d %s", a.StatusCode, a.body)
	}
}

// Another site can make a browser send a form with the owner's cookie; it is not done.
func TestForgedFormIsRefused(t *testing.T) {
	b := newBed(t)
	c := b.signedIn()
	send := func(path string, headers ...string) answer {
		r := b.request("POST", path).sending("current", password, "next", "taken over")
		for i := 0; i < len(headers); i += 2 {
			r.with(headers[i], headers[i+1])
		}
		return r.by(c)
	}
	for name, headers := range map[string][]string{
		"another site":       {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		"the next port":      {"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"},
		"an older browser":   {"Origin", "https://evil.example"},
		"a hidden origin":    {"Origin", "null"},
		"our origin claimed": {"Sec-Fetch-Site", "cross-site", "Origin", b.url},
	} {
		for _, path := range []string{"/_ref/password", "/page", "/logout", "/login"} {
			if a := send(path, headers...); a.StatusCode != http.StatusForbidden ||
				!strings.Contains(a.body, `"cross_origin_request"`) {
				t.Errorf("%s, %s: %d %s", name, path, a.StatusCode, a.body)
			}
		}
	}
	if a := b.signIn(browser(), password); a.StatusCode != http.StatusSeeOther {
		t.Fatal("the password was changed")
	}
	if !b.inside(c) {
		t.Fatal("the session was ended")
	}
	for name, headers := range map[string][]string{
		"our page": {"Sec-Fetch-Site", "same-origin", "Origin", b.url}, "an older browser": {"Origin", b.url},
		"a program": nil,
	} {
		if a := send("/page", headers...); a.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
	}
}
