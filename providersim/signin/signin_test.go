package signin_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/providersim/signin"
)

// visitor is a browser without pages: it keeps cookies and follows redirects.
type visitor struct {
	t       *testing.T
	h       http.Handler
	agent   string
	cookies map[string]string
}

func visit(t *testing.T, h http.Handler) *visitor {
	return &visitor{t: t, h: h, agent: "Browser/1", cookies: map[string]string{}}
}

func (v *visitor) do(method, path string, form url.Values, header ...string) (*http.Response, string) {
	v.t.Helper()
	for range 10 {
		r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
		r.Header.Set("User-Agent", v.agent)
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		for name, value := range v.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		w := httptest.NewRecorder()
		v.h.ServeHTTP(w, r)
		resp := w.Result()
		for _, c := range resp.Cookies() {
			if !c.Secure || !c.HttpOnly {
				v.t.Errorf("cookie %s lies open", c.Name)
			}
			if v.cookies[c.Name] = c.Value; c.MaxAge < 0 {
				delete(v.cookies, c.Name)
			}
		}
		if resp.StatusCode != http.StatusSeeOther {
			body, _ := io.ReadAll(resp.Body)
			return resp, string(body)
		}
		method, path, form = http.MethodGet, resp.Header.Get("Location"), nil
	}
	v.t.Fatal("redirects without end")
	return nil, ""
}

func (v *visitor) password(name, password string) string {
	v.t.Helper()
	_, body := v.do(http.MethodPost, "/auth/login", url.Values{"username": {name}, "password": {password}})
	return body
}

// session returns the account and the access token; empty when signed out.
func (v *visitor) session() (account, bearer string) {
	v.t.Helper()
	resp, body := v.do(http.MethodGet, "/api/auth/session", nil)
	if resp.StatusCode != http.StatusOK {
		v.t.Errorf("the session call answers %d", resp.StatusCode)
	}
	var s struct {
		User        struct{ ID string }
		AccessToken string
	}
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		v.t.Fatal(err)
	}
	return s.User.ID, s.AccessToken
}

func order(t *testing.T, s *signin.Site, o signin.Order) signin.State {
	t.Helper()
	state, err := s.Do(o)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestEverySecondStep(t *testing.T) {
	t.Parallel()
	for _, step := range []signin.Step{signin.None, signin.TOTP, signin.Email, signin.Push} {
		d := signin.NewDiary(signin.DiaryConfig{Config: signin.Config{Second: step}})
		v := visit(t, d.Handler())
		if body := v.password(signin.Person.Email, "wrong"); !strings.Contains(body, `id="error"`) {
			t.Errorf("%s: a wrong password gives %s", step, body)
		}
		v.password(signin.Person.Email, signin.Person.Password)
		switch step {
		case signin.TOTP, signin.Email:
			if _, body := v.do(http.MethodPost, "/auth/second", url.Values{"code": {"000000x"}}); !strings.Contains(body,
				`id="error"`) {
				t.Errorf("%s: a wrong code gives %s", step, body)
			}
			v.do(http.MethodPost, "/auth/second", url.Values{"code": {d.Site().State().Codes[signin.Person.ID]}})
		case signin.Push:
			if _, body := v.do(http.MethodGet, "/auth/push", nil); !strings.Contains(body, "false") {
				t.Errorf("approved by nobody: %s", body)
			}
			if account, _ := v.session(); account != "" {
				t.Error("signed in without an approval")
			}
			order(t, d.Site(), signin.Order{Approve: true})
			v.do(http.MethodGet, "/auth/second", nil)
		}
		if account, bearer := v.session(); account != signin.Person.ID || bearer == "" {
			t.Errorf("%s: signed in as %q", step, account)
		}
		if _, body := v.do(http.MethodGet, "/", nil); !strings.Contains(body, "Hello, Rowan") {
			t.Errorf("%s: home is %s", step, body)
		}
		v.do(http.MethodGet, "/auth/logout", nil)
		if account, _ := v.session(); account != "" {
			t.Errorf("%s: still signed in as %q", step, account)
		}
	}
}

func TestLockedAccount(t *testing.T) {
	t.Parallel()
	d := signin.NewDiary(signin.DiaryConfig{})
	v := visit(t, d.Handler())
	for range 5 {
		v.password(signin.Person.Email, "wrong")
	}
	if body := v.password(signin.Person.Email, signin.Person.Password); !strings.Contains(body, "locked") {
		t.Errorf("after five wrong passwords: %s", body)
	}
	order(t, d.Site(), signin.Order{Unlock: signin.Person.ID})
	v.password(signin.Person.Email, signin.Person.Password)
	if account, _ := v.session(); account == "" {
		t.Error("the unlocked account cannot sign in")
	}
}

// TestLives lets a bearer and a session run out, and ends all sessions.
func TestLives(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	d := signin.NewDiary(signin.DiaryConfig{Entries: 3, Config: signin.Config{
		Now: func() time.Time { return now }, BearerLife: time.Minute, SessionLife: time.Hour,
	}})
	v := visit(t, d.Handler())
	v.password(signin.Person.Email, signin.Person.Password)
	_, bearer := v.session()
	list := func(token string) int {
		resp, _ := v.do(http.MethodGet, "/api/entries", nil, "Authorization", "Bearer "+token)
		return resp.StatusCode
	}
	if _, again := v.session(); again != bearer || list(bearer) != 200 || list("other") != 401 {
		t.Error("a fresh bearer does not count, or changes")
	}
	now = now.Add(time.Minute)
	if list(bearer) != 401 {
		t.Error("a bearer outlives its life")
	}
	_, next := v.session()
	if next == bearer || list(next) != 200 || list(bearer) != 401 {
		t.Error("the next bearer does not replace the last")
	}
	now = now.Add(time.Hour)
	if account, _ := v.session(); account != "" || list(next) != 401 {
		t.Error("a session outlives its life")
	}
	v.password(signin.Person.Email, signin.Person.Password)
	order(t, d.Site(), signin.Order{SignOut: true})
	if account, _ := v.session(); account != "" {
		t.Error("signed in after signing out everywhere")
	}
}

func TestWall(t *testing.T) {
	t.Parallel()
	d := signin.NewDiary(signin.DiaryConfig{})
	v := visit(t, d.Handler())
	order(t, d.Site(), signin.Order{Wall: signin.WallUp})
	resp, body := v.do(http.MethodGet, "/api/auth/session", nil)
	if resp.StatusCode != 403 || resp.Header.Get("cf-mitigated") != "challenge" ||
		!strings.Contains(body, "_cf_chl_opt") ||
		!strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		t.Errorf("an API call gets %d %s", resp.StatusCode, body)
	}
	if resp, _ := v.do(http.MethodGet, "/robots.txt", nil); resp.StatusCode != 200 {
		t.Error("the quiet page is walled")
	}
	v.do(http.MethodPost, "/wall", url.Values{"person": {"yes"}, "back": {"/robots.txt"}})
	if account, _ := v.session(); account != "" {
		t.Error("clearance signs in")
	}
	v.agent = "Browser/2"
	if resp, _ := v.do(http.MethodGet, "/api/auth/session", nil); resp.StatusCode != 403 {
		t.Error("clearance counts for another browser")
	}
	v.agent = "Browser/1"
	order(t, d.Site(), signin.Order{Wall: signin.WallShut})
	v.do(http.MethodPost, "/wall", url.Values{"person": {"yes"}, "back": {"//elsewhere.example/"}})
	if resp, _ := v.do(http.MethodGet, "/api/auth/session", nil); resp.StatusCode != 403 {
		t.Error("a shut wall opens")
	}
	if c := d.Site().State().Count; c.Cleared != 1 || c.Walled < 3 {
		t.Errorf("counted %+v", c)
	}
}

func TestSecondWindow(t *testing.T) {
	t.Parallel()
	d := signin.NewDiary(signin.DiaryConfig{})
	order(t, d.Site(), signin.Order{Page: signin.Window})
	v := visit(t, d.Handler())
	if _, body := v.do(http.MethodGet, "/auth/login", nil); !strings.Contains(body, `id="partner"`) {
		t.Errorf("no button: %s", body)
	}
	if _, body := v.do(http.MethodPost, "/auth/partner", nil); !strings.Contains(body, `window.opener.location="/"`) &&
		!strings.Contains(body, `window.opener.location="\/"`) {
		t.Errorf("the window leads to %s", body)
	}
	if account, _ := v.session(); account != signin.Person.ID {
		t.Errorf("signed in as %q", account)
	}
}

// TestControl drives the site through its port, and refuses what it does not know.
func TestControl(t *testing.T) {
	t.Parallel()
	s, err := signin.StartDiary(signin.DiaryConfig{Entries: 45, Config: signin.Config{Second: signin.TOTP}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	post := func(body string) (int, string) {
		resp, err := http.Post(s.ControlURL+"/signin", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	if code, text := post(`{"page":"loop","second":"push"}`); code != 200 || !strings.Contains(text, `"page":"loop"`) ||
		!strings.Contains(text, `"second":"push"`) {
		t.Errorf("%d %s", code, text)
	}
	for _, bad := range []string{`{"page":"nice"}`, `{"second":"dance"}`, `{"wall":"high"}`, `{"lock":"nobody"}`,
		`{"pages":"form"}`, `[`} {
		if code, _ := post(bad); code != 400 {
			t.Errorf("%s answers %d", bad, code)
		}
	}
	truth, err := s.Control().Truth(t.Context())
	if err != nil || len(truth[signin.StreamEntries]) != 45 {
		t.Errorf("%d entries, %v", len(truth[signin.StreamEntries]), err)
	}
}
