package admin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func TestOwnerTokensAreShownOnce(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	p := post(t, h, "/settings/tokens", url.Values{"label": {"Laptop terminal"}, "scope": {"read", "run"},
		"ends": {"date"}, "date": {"2026-04-01"}})
	p.says(t, "Copy it now, it is not shown again.", "pdpp_ot_"+"shownonce")
	if at := o.token.ExpiresAt; at == nil || !at.Equal(time.Date(2026, 4, 2, 0, 0, 0, 0, now.Location())) ||
		strings.Join(o.token.Scopes, " ") != "read run" {
		t.Errorf("made %+v", o.token)
	}
	if strings.Contains(get(t, h, "/settings/sign-in").text(), "shownonce") {
		t.Error("it is shown again")
	}
	for name, c := range map[string]struct {
		form  url.Values
		field string
	}{
		"no name":  {url.Values{"label": {" "}, "scope": {"read"}}, "token-label"},
		"no reach": {url.Values{"label": {"X"}}, "token-label"},
		"no date":  {url.Values{"label": {"X"}, "scope": {"read"}, "ends": {"date"}}, "token-ends"},
	} {
		p := post(t, h, "/settings/tokens", c.form)
		if p.Code != http.StatusBadRequest || name != "no reach" && attr(p.by(t, "id", c.field), "aria-invalid") != "true" {
			t.Errorf("%s answered %d", name, p.Code)
		}
	}
	for ends, want := range map[string]api.NewToken{"90": {ExpiresAt: new(now.AddDate(0, 0, 90))},
		"never": {NeverExpires: true}, "": {}} {
		post(t, h, "/settings/tokens", url.Values{"label": {"X"}, "scope": {"all"}, "ends": {ends}})
		if got := o.token; got.NeverExpires != want.NeverExpires || (got.ExpiresAt == nil) != (want.ExpiresAt == nil) ||
			got.ExpiresAt != nil && !got.ExpiresAt.Equal(*want.ExpiresAt) {
			t.Errorf("%q: %+v", ends, got)
		}
	}
	to(t, post(t, h, "/settings/tokens/tok_1/revoke", nil), "/settings/sign-in#tokens")
	want(t, o, "CreateToken Laptop terminal; CreateToken X; CreateToken X; CreateToken X; RevokeToken tok_1")
}

// Who may act as the owner can be seen and ended on one page.
func TestSignInPage(t *testing.T) {
	t.Parallel()
	o := full("Safari on iPhone")
	h := world(t, o)
	p := get(t, h, "/settings/sign-in")
	p.says(t, "Where you are signed in", "Safari on iPhone", "this browser", "8 of 10 left", "Sign out everywhere else",
		"Make and show once", "Add a passkey")
	to(t, post(t, h, "/settings/sessions/abc/end", nil), "/settings/sign-in#sessions")
	to(t, post(t, h, "/settings/sessions/end", nil), "/settings/sign-in#sessions")
	to(t, post(t, h, "/settings/passkeys/pk_1/remove", nil), "/settings/sign-in#passkeys")
	p = post(t, h, "/settings/recovery-codes", nil)
	p.says(t, "aaaa-bbbb-cccc-dddd", "not shown again")
	want(t, o, "EndSession abc; EndSessions; RemovePasskey pk_1; MakeRecoveryCodes")
	o.stale = true
	p = get(t, h, "/settings/sign-in")
	if strings.Contains(p.text(), "Make and show once") ||
		!strings.Contains(p.Body.String(), `href="/confirm?next=%2Fsettings%2Fsign-in"`) {
		t.Error("without fresh proof the page offers what it would not do")
	}
}

// The page sums up who can sign in, and shows the permissions and origin of each way to sign in.
// It omits expired ones.
func TestWaysInAreTold(t *testing.T) {
	t.Parallel()
	o := mara()
	past, soon := now.Add(-time.Minute), now.AddDate(0, 0, 3)
	o.sessions = []api.Session{
		{ID: "s1", Current: true, Browser: "Firefox on Linux", Address: "192.0.2.1", Method: "password", SeenAt: now},
		{ID: "s2", Browser: "Safari on iPhone", Address: "192.0.2.2", Method: "passkey", SeenAt: now.Add(-time.Hour)},
		{ID: "s3", Browser: "Chrome on Android", Address: "192.0.2.3", Method: "recovery_code", SeenAt: past},
	}
	o.tokens = []api.Token{
		{ID: "ot_1", Label: "Laptop", Prefix: "pdpp_ot_a", Scopes: []string{"read", "run", "manage"}, ExpiresAt: &soon},
		{ID: "ot_2", Label: "Robot", Prefix: "pdpp_ot_b", Scopes: []string{"all"}, LastUsedAt: &past},
		{ID: "ot_3", Label: "Ended script", ExpiresAt: &past},
		{ID: "ot_4", Label: "Revoked script", RevokedAt: &past},
	}
	h := world(t, o)
	p := get(t, h, "/settings/sign-in")
	p.says(t, "3 browsers and 2 tokens can open this server.", "None made yet")
	row := func(attribute, id string, all ...string) {
		t.Helper()
		text := textOf(p.by(t, attribute, id))
		for _, words := range all {
			if !strings.Contains(text, words) {
				t.Errorf("%s says %q, not %q", id, text, words)
			}
		}
	}
	row("data-session", "s1", "Firefox on Linux this browser", "Password, from 192.0.2.1", "Now in use")
	row("data-session", "s2", "Passkey, from 192.0.2.2 Last active today 13:32")
	row("data-session", "s3", "Recovery code, from 192.0.2.3")
	row("data-token", "ot_1", "May read everything, start and stop runs and manage.", "Not used yet")
	row("data-token", "ot_2", "May do everything.", "Used today 14:31")
	if strings.Contains(p.text(), "Ended script") || strings.Contains(p.text(), "Revoked script") {
		t.Error("what is over is offered")
	}
	o.sessions, o.tokens, o.passkeys = o.sessions[:1], nil,
		[]api.Passkey{{ID: "pk_1", Label: "Key", Host: "localhost", CreatedAt: past}}
	p = get(t, h, "/settings/sign-in")
	p.says(t, "1 browser can open this server.", "There is no token.")
	row("data-passkey-id", "pk_1", "Key Added today 14:31, for localhost", "Not used yet")
	if text := p.text(); strings.Contains(text, "Only the password") || strings.Contains(text, "everywhere else") {
		t.Error("it advises what is done")
	}
	for address, c := range map[string]struct{ method, section string }{
		"/settings/sessions/s9/end":      {"EndSession", "sessions"},
		"/settings/passkeys/pk_9/remove": {"RemovePasskey", "passkeys"},
		"/settings/tokens/ot_9/revoke":   {"RevokeToken", "tokens"},
		"/settings/recovery-codes":       {"MakeRecoveryCodes", "password"},
	} {
		const words = "It is not there. Look again."
		o.fails[c.method] = api.NotFound("It is not there.", "Look again.")
		p := post(t, h, address, nil)
		if p.Code != http.StatusNotFound || strings.Count(p.text(), words) != 1 ||
			!strings.Contains(textOf(p.by(t, "id", c.section)), words) {
			t.Errorf("%s answered %d: %s", address, p.Code, p.text())
		}
	}
}

func TestThePasswordIsNeverShown(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	form := url.Values{"next": {"new-word-1"}, "again": {"new-word-2"}}
	p := post(t, h, "/settings/password", form)
	p.says(t, "The two passwords are not the same.")
	want(t, o, "")
	form.Set("again", "new-word-1")
	o.fails["SetPassword"] = api.Invalid("password", "The owner password is too short.", "")
	p = post(t, h, "/settings/password", form)
	if attr(p.by(t, "id", "p-next"), "aria-invalid") != "true" {
		t.Error("the field is not marked")
	}
	if strings.Contains(p.Body.String(), "new-word") {
		t.Error("the password is on the page")
	}
	delete(o.fails, "SetPassword")
	form.Set("keep_tokens", "yes")
	to(t, post(t, h, "/settings/password", form), "/settings/sign-in#password")
	if o.password != (api.NewPassword{Password: "new-word-1", KeepTokens: true}) {
		t.Errorf("changed %+v", o.password)
	}
}

// What adds a way in needs fresh proof, and so does removing for good; nothing else does whatever its form holds.
func TestRoutesThatNeedProof(t *testing.T) {
	for _, r := range Routes(Config{}) {
		want := map[string]bool{"POST /settings/tokens": true, "POST /settings/recovery-codes": true,
			"GET /settings/password": true, "POST /settings/password": true,
			"POST /settings/deletions/{id}/purge": true}[r.Pattern]
		if r.Confirm != want {
			t.Errorf("%s: %v", r.Pattern, r.Confirm)
		}
	}
}
