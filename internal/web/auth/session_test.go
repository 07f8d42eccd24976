package auth_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/web/auth"
)

const day = 24 * time.Hour

func TestSignInAndOut(t *testing.T) {
	b := newBed(t)
	c := browser()
	a := b.request("GET", "/page?a=1").by(c)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/login?next=%2Fpage%3Fa%3D1" {
		t.Fatalf("a visitor: %d to %s", a.StatusCode, a.Header.Get("Location"))
	}
	if cookie(a) != nil {
		t.Error("a visitor gets a session")
	}
	if a := b.request("GET", "/login?next=/page").by(c); a.StatusCode != 200 || a.body != "[form /page] " ||
		cookie(a) != nil {
		t.Errorf("the form: %d %s", a.StatusCode, a.body)
	}
	a = b.request("POST", "/login?next=/page").sending("password", password).by(c)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/page" {
		t.Fatalf("sign in: %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	if a := b.request("GET", "/page").by(c); a.body != "session" {
		t.Errorf("a page: %d %s", a.StatusCode, a.body)
	}
	if a := b.request("GET", "/_ref/x").by(c); a.body != "session" {
		t.Errorf("an answer for programs: %d %s", a.StatusCode, a.body)
	}
	if a := b.request("GET", "/login?next=/page").by(c); a.Header.Get("Location") != "/page" {
		t.Errorf("the form again: %d %s", a.StatusCode, a.body)
	}
	before := c.Jar.Cookies(a.Request.URL)
	if a := b.request("POST", "/logout").by(c); a.Header.Get("Location") != "/login" || cookie(a).MaxAge >= 0 {
		t.Errorf("sign out: %d %v", a.StatusCode, a.Header)
	}
	c.Jar.SetCookies(a.Request.URL, before) // as an attacker with a copy
	if b.inside(c) {
		t.Error("the session outlives the sign-out")
	}
}

// An attacker who planted a session name in a browser does not know the name of the owner's session.
func TestFixedSessionIsRenamed(t *testing.T) {
	b := newBed(t)
	at, _ := url.Parse(b.url)
	planted := func(value string) *http.Client {
		c := browser()
		c.Jar.SetCookies(at, []*http.Cookie{{Name: "pdpp_session", Value: value}})
		return c
	}
	t.Run("invented", func(t *testing.T) {
		victim, attacker := planted("chosen-by-somebody"), planted("chosen-by-somebody")
		if got := cookie(b.signIn(victim, password)).Value; got == "chosen-by-somebody" {
			t.Error("the name is kept")
		}
		if !b.inside(victim) || b.inside(attacker) {
			t.Error("the wrong one is inside")
		}
	})
	t.Run("real", func(t *testing.T) {
		first := browser()
		name := cookie(b.signIn(first, password)).Value
		victim := planted(name)
		if got := cookie(b.signIn(victim, password)).Value; got == name {
			t.Error("the name is kept")
		}
		if !b.inside(victim) || b.inside(first) {
			t.Error("the old name still opens")
		}
	})
}

func TestCookieFlags(t *testing.T) {
	b := newBed(t)
	check := func(name string, a *http.Cookie, secure bool) {
		if a == nil || !a.HttpOnly || a.SameSite != http.SameSiteLaxMode || a.Path != "/" || a.Domain != "" ||
			a.Secure != secure || a.MaxAge != int(7*day/time.Second) {
			t.Errorf("%s: %v", name, a)
		}
	}
	check("plain", cookie(b.signIn(browser(), password)), false)

	s := httptest.NewTLSServer(b.handler())
	defer s.Close()
	c := browser()
	c.Transport = s.Client().Transport
	plain := b.url
	b.url = s.URL
	check("by TLS", cookie(b.signIn(c, password)), true)

	b.url = plain
	w := httptest.NewRecorder()
	behind := auth.New(auth.Config{Store: b.st, Now: b.now, HashCost: cheap, Base: "https://pdpp.lantern.example"})
	if err := behind.SignIn(w, httptest.NewRequest("POST", "/login", nil), password); err != nil {
		t.Fatal(err)
	}
	check("behind a proxy", cookie(answer{Response: w.Result()}), true)
}

func TestIdleSessionEnds(t *testing.T) {
	b := newBed(t)
	c := b.signedIn()
	b.later(7*day - time.Second)
	if !b.inside(c) {
		t.Fatal("it ended early")
	}
	b.later(7*day - time.Second) // its use was noted
	if !b.inside(c) {
		t.Fatal("its use was not noted")
	}
	b.later(7 * day)
	if b.inside(c) {
		t.Error("it outlives a week without use")
	}
}

func TestUsedSessionEndsAfterThirtyDays(t *testing.T) {
	b := newBed(t)
	c := b.signedIn()
	for range 29 {
		b.later(day)
		if !b.inside(c) {
			t.Fatalf("it ended at %v", b.now())
		}
	}
	b.later(day - time.Second)
	if !b.inside(c) {
		t.Error("it ended early")
	}
	b.later(time.Second)
	if b.inside(c) {
		t.Error("it outlives thirty days")
	}
}

// The use of a session is written down at most once an hour, and the cookie is
// sent again only then.
func TestSessionIsRenewedOnceAnHour(t *testing.T) {
	b := newBed(t)
	c := b.signedIn()
	b.later(time.Hour - time.Second)
	if cookie(b.request("GET", "/page").by(c)) != nil {
		t.Error("renewed within the hour")
	}
	b.later(time.Second)
	if cookie(b.request("GET", "/page").by(c)) == nil {
		t.Error("not renewed after the hour")
	}
	if cookie(b.request("GET", "/page").by(c)) != nil {
		t.Error("renewed twice")
	}
}

func TestNothingThatOpensIsAtRest(t *testing.T) {
	b := newBed(t)
	c := b.signedIn()
	at, _ := url.Parse(b.url)
	_, token, err := b.auth.CreateToken(t.Context(), auth.NewToken{Label: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{"password": password, "token": token}
	for _, kept := range c.Jar.Cookies(at) {
		secrets[kept.Name] = kept.Value
	}
	codes, err := b.auth.MakeRecoveryCodes(t.Context())
	if err != nil || len(secrets) != 4 {
		t.Fatal(secrets, err)
	}
	secrets["recovery code"] = codes[0]
	secrets["recovery code as it is hashed"] = strings.ReplaceAll(codes[0], "-", "")
	var all []byte
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(b.file + suffix)
		if err != nil && suffix == "" {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	if !bytes.Contains(all, []byte("argon2id")) || !bytes.Contains(all, []byte("laptop")) {
		t.Fatal("this is not what was written")
	}
	for name, secret := range secrets {
		if bytes.Contains(all, []byte(secret)) {
			t.Errorf("the %s is in the file", name)
		}
	}
}
