package cli

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// signedIn is a browser of the owner's.
func (s *served) signedIn() *visitor {
	s.Helper()
	v := s.visitor().with("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	if a := v.post("/login", "password", servedPassword); a.StatusCode != http.StatusSeeOther {
		s.Fatalf("sign in: %d %s", a.StatusCode, a.body)
	}
	return v
}

func (s *served) bearer(token string) *visitor {
	return s.visitor().with("Authorization", "Bearer "+token)
}

// A token allows only its scopes, and expires.
func TestTokensHaveScopesAndAnEnd(t *testing.T) { onBoth(t, tokensHaveScopesAndAnEnd) }

func tokensHaveScopesAndAnEnd(t *testing.T, vars map[string]string) {
	s := serveLocal(t, vars)
	asked := []struct{ scope, method, path string }{
		{"read", "GET", "/_ref/connections"}, {"read", "GET", "/metrics"}, {"read", "GET", "/v1/streams"},
		{"run", "POST", "/_ref/connections/cin_none_1/run"},
		{"manage", "POST", "/_ref/grants"}, {"manage", "GET", "/_ref/sessions"},
		{"all", "POST", "/_ref/tokens"}, {"all", "PUT", "/_ref/password"}, {"all", "POST", "/_ref/recovery-codes"},
	}
	for _, have := range []string{"read", "run", "manage", "read,run,manage", "all"} {
		token := s.token("--scope", have)
		for _, c := range asked {
			a := s.bearer(token).tell(c.method, c.path, map[string]any{"label": ""})
			allowed := have == "all" || strings.Contains(have, c.scope)
			refused := a.StatusCode == http.StatusForbidden && strings.Contains(a.body, "insufficient_scope") ||
				a.StatusCode == http.StatusUnauthorized
			if allowed == refused {
				t.Errorf("%s with a token for %s: %d %s", c.path, have, a.StatusCode, a.body)
			}
		}
	}
	if code, _, errOut := s.pdpp("tokens", "create", "Odd", "--scope", "pear"); code != failure.ExitUsage ||
		!strings.Contains(errOut, "read, run, manage") {
		t.Errorf("an unknown scope: %d %s", code, errOut)
	}
	ends := func(args ...string) *time.Time {
		t.Helper()
		code, out, errOut := s.pdpp(append([]string{"tokens", "create", "X", "--json"}, args...)...)
		var made struct {
			Token struct {
				ExpiresAt *time.Time `json:"expires_at"`
				Scopes    []string
			}
		}
		if err := json.Unmarshal([]byte(out), &made); code != failure.ExitOK || err != nil {
			t.Fatalf("%d %s %v", code, errOut, err)
		}
		if strings.Join(made.Token.Scopes, " ") != "read run manage" {
			t.Errorf("scopes %v", made.Token.Scopes)
		}
		return made.Token.ExpiresAt
	}
	if at := ends(); at == nil || time.Until(*at).Round(24*time.Hour) != 90*24*time.Hour {
		t.Errorf("by default it ends at %v", at)
	}
	if at := ends("--never"); at != nil {
		t.Errorf("with --never it ends at %v", at)
	}
	a := s.signedIn().tell("POST", "/_ref/tokens", map[string]any{"label": "From a script"})
	if !regexp.MustCompile(`"expires_at":"20`).MatchString(a.body) {
		t.Errorf("over HTTP it ends never: %d %s", a.StatusCode, a.body)
	}
}

// A new password ends the tokens and the other browsers; the owner may keep the tokens.
func TestPasswordChangeEndsTokens(t *testing.T) {
	for name, keep := range map[string]bool{"by default": false, "kept": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
			mine, other, token := s.signedIn(), s.signedIn(), s.token()
			a := mine.tell("PUT", "/_ref/password", map[string]any{"password": "a new long password", "keep_tokens": keep})
			if a.StatusCode != http.StatusNoContent {
				t.Fatalf("change: %d %s", a.StatusCode, a.body)
			}
			if a := s.bearer(token).get("/_ref/connections"); (a.StatusCode == http.StatusOK) != keep {
				t.Errorf("the token: %d", a.StatusCode)
			}
			if a := mine.get("/_ref/connections"); a.StatusCode != http.StatusOK {
				t.Errorf("the browser that changed it: %d", a.StatusCode)
			}
			if a := other.get("/_ref/connections"); a.StatusCode != http.StatusUnauthorized {
				t.Errorf("the other browser: %d", a.StatusCode)
			}
		})
	}
	t.Run("by the variable", func(t *testing.T) {
		t.Parallel()
		s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
		token := s.token()
		s.stop()
		s.vars["PDPP_OWNER_PASSWORD"] = "a new long password"
		s.start()
		if a := s.bearer(token).get("/_ref/connections"); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("the token: %d", a.StatusCode)
		}
	})
	t.Run("by the command", func(t *testing.T) {
		t.Parallel()
		s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
		token, browser := s.token(), s.signedIn()
		s.vars["PDPP_NEW_OWNER_PASSWORD"] = "a new long password"
		if code, _, errOut := s.pdpp("password"); code != failure.ExitOK {
			t.Fatalf("%d %s", code, errOut)
		}
		if a := s.bearer(token).get("/_ref/connections"); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("the token: %d", a.StatusCode)
		}
		if a := browser.get("/_ref/connections"); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("the browser: %d", a.StatusCode)
		}
	})
}

// Where the owner is signed in is listed with place and time, and ends one by one or all
// at once, by page, route and command.
func TestSessionsAreListedAndEnded(t *testing.T) { onBoth(t, sessionsAreListedAndEnded) }

func sessionsAreListedAndEnded(t *testing.T, vars map[string]string) {
	vars["PDPP_TRUSTED_PROXIES"] = "127.0.0.1"
	s := serveLocal(t, vars)
	mine := s.signedIn()
	phone := s.visitor().with("X-Forwarded-For", "203.0.113.24").
		with("User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "+
			"Gecko) Version/18.5 Mobile/15E148 Safari/604.1")
	phone.post("/login", "password", servedPassword)
	type session struct {
		ID         string    `json:"session_id"`
		Address    string    `json:"address"`
		Browser    string    `json:"browser"`
		Method     string    `json:"method"`
		Current    bool      `json:"current"`
		SignedInAt time.Time `json:"signed_in_at"`
		SeenAt     time.Time `json:"seen_at"`
	}
	list := func() map[string]session {
		t.Helper()
		var got struct{ Data []session }
		a := mine.get("/_ref/sessions")
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
		by := map[string]session{}
		for _, one := range got.Data {
			if one.ID == "" || time.Since(one.SignedInAt) > time.Hour || time.Since(one.SeenAt) > time.Hour ||
				one.Method != "password" {
				t.Errorf("%+v", one)
			}
			by[one.Browser+" "+one.Address] = one
		}
		return by
	}
	all := list()
	if here := all["Firefox on Linux 127.0.0.1"]; len(all) != 2 || !here.Current {
		t.Fatalf("%+v", all)
	}
	there := all["Safari on iPhone 203.0.113.24"]
	if there.ID == "" || there.Current {
		t.Fatalf("%+v", all)
	}
	if page := mine.get("/settings/sign-in"); page.StatusCode != http.StatusOK ||
		!strings.Contains(page.body, "Safari on iPhone") || !strings.Contains(page.body, "203.0.113.24") ||
		!strings.Contains(page.body, "this browser") {
		t.Errorf("the page: %d %s", page.StatusCode, page.body)
	}
	_, out, _ := s.pdpp("sessions")
	if !strings.Contains(out, "Safari on iPhone") || !strings.Contains(out, there.ID) {
		t.Errorf("the command: %s", out)
	}
	if a := mine.post("/settings/sessions/" + there.ID + "/end"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("end one: %d %s", a.StatusCode, a.body)
	}
	if a := phone.get("/"); a.StatusCode != http.StatusSeeOther || len(list()) != 1 {
		t.Errorf("it is not ended: %d", a.StatusCode)
	}
	if a := mine.tell("POST", "/_ref/sessions/ses_none/end", nil); a.StatusCode != http.StatusNotFound {
		t.Errorf("end none: %d", a.StatusCode)
	}
	phone.post("/login", "password", servedPassword)
	if a := mine.tell("POST", "/_ref/sessions/end", nil); a.StatusCode != http.StatusNoContent || len(list()) != 1 {
		t.Errorf("end the others: %d %s", a.StatusCode, a.body)
	}
	phone.post("/login", "password", servedPassword)
	if code, _, errOut := s.pdpp("sessions", "end", "--all"); code != failure.ExitOK {
		t.Errorf("%d %s", code, errOut)
	}
	if a := mine.get("/"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("after the command: %d", a.StatusCode)
	}
}

// What adds ways in, and what cannot be undone or is everything, needs proof that is
// not older than ten minutes, on pages and routes alike.
func TestSensitiveActionsNeedFreshProof(t *testing.T) {
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
	v := s.signedIn()
	routes := []struct{ method, path string }{{"POST", "/_ref/tokens"}, {"PUT", "/_ref/password"},
		{"POST", "/_ref/recovery-codes"},
		{"POST", "/_ref/deletions"}, {"POST", "/_ref/deletions/del_1/purge"}}
	pages := []string{"/settings/tokens", "/settings/password", "/settings/recovery-codes"}
	for _, c := range routes {
		if a := v.tell(c.method, c.path, map[string]any{"label": "", "password": ""}); strings.Contains(a.body,
			"confirmation_required") {
			t.Errorf("just signed in: %s: %d %s", c.path, a.StatusCode, a.body)
		}
	}
	s.later(11 * time.Minute)
	for _, c := range routes {
		if a := v.tell(c.method, c.path,
			map[string]any{"label": "X", "password": "a new long password"}); a.StatusCode != http.StatusForbidden ||
			!strings.Contains(a.body, "confirmation_required") {
			t.Errorf("later: %s: %d %s", c.path, a.StatusCode, a.body)
		}
	}
	for _, path := range pages {
		if a := v.post(path, "label", "X", "next", "a new long password", "again",
			"a new long password"); a.StatusCode != http.StatusSeeOther ||
			!strings.HasPrefix(a.Header.Get("Location"), "/confirm") {
			t.Errorf("later: %s: %d %s", path, a.StatusCode, a.Header.Get("Location"))
		}
	}
	for _, c := range []struct {
		path, scope, when string
		needs             bool
	}{
		{"/settings/deletions", "everything", "later", true},
		{"/settings/deletions", "range", "now", true},
		{"/settings/deletions/del_1/purge", "", "", true},
		{"/settings/deletions", "range", "later", false},
		{"/settings/deletions/del_1/undo", "", "", false},
	} {
		a := v.post(c.path, "scope", c.scope, "when", c.when, "until",
			map[bool]string{true: "2001-02-03"}[c.scope == "range"])
		if needs := strings.HasPrefix(a.Header.Get("Location"), "/confirm"); needs != c.needs {
			t.Errorf("later: %s of %s %s: %d %s", c.path, c.scope, c.when, a.StatusCode, a.Header.Get("Location"))
		}
	}
	if a := v.get("/_ref/connections"); a.StatusCode != http.StatusOK {
		t.Errorf("what needs none: %d", a.StatusCode)
	}
	if a := v.post("/confirm", "password", "a wrong password"); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong password: %d", a.StatusCode)
	}
	if a := v.post("/confirm", "password", servedPassword, "next",
		"/settings/sign-in"); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/settings/sign-in" {
		t.Fatalf("confirm: %d %s", a.StatusCode, a.body)
	}
	if a := v.tell("POST", "/_ref/tokens", map[string]any{"label": "Made"}); a.StatusCode != http.StatusCreated {
		t.Errorf("confirmed: %d %s", a.StatusCode, a.body)
	}
	for range 5 {
		v.post("/confirm", "password", "a wrong password")
	}
	if a := v.post("/confirm", "password", servedPassword); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("guessing: %d", a.StatusCode)
	}
	if a := s.visitor().post("/confirm", "password", servedPassword); a.StatusCode != http.StatusSeeOther ||
		!strings.HasPrefix(a.Header.Get("Location"), "/login") {
		t.Errorf("a stranger: %d", a.StatusCode)
	}
}

// A recovery code signs in once and asks for a new password; what is kept opens nothing.
func TestRecoveryCodes(t *testing.T) { onBoth(t, recoveryCodes) }

func recoveryCodes(t *testing.T, vars map[string]string) {
	s := serveLocal(t, vars)
	var made struct{ Codes []string }
	a := s.signedIn().tell("POST", "/_ref/recovery-codes", nil)
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.StatusCode != http.StatusCreated ||
		len(made.Codes) != 10 {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	lost := s.visitor()
	a = lost.post("/login/recovery", "code", strings.ToUpper(strings.ReplaceAll(made.Codes[3], "-", " ")))
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/settings/password") {
		t.Fatalf("a code: %d %s %s", a.StatusCode, a.Header.Get("Location"), a.body)
	}
	if page := lost.get("/settings/password"); page.StatusCode != http.StatusOK ||
		!strings.Contains(page.body, "New password") {
		t.Errorf("it asks for no password: %d", page.StatusCode)
	}
	if a := lost.post("/settings/password", "next", "a new long password", "again",
		"a new long password"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the new password: %d %s", a.StatusCode, a.body)
	}
	if a := s.visitor().post("/login", "password", "a new long password"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("sign in with it: %d", a.StatusCode)
	}
	if a := s.visitor().post("/login/recovery", "code", made.Codes[3]); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a second time: %d", a.StatusCode)
	}
	if a := s.bearer(s.token()).get("/_ref/recovery-codes"); !strings.Contains(a.body, `"left":9`) {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	s.holdsNone(made.Codes...)
	for range 4 {
		s.visitor().post("/login/recovery", "code", "0000-0000-0000-0000")
	}
	if a := s.visitor().post("/login/recovery", "code", made.Codes[4]); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("guessing codes is not slowed down: %d", a.StatusCode)
	}
}
