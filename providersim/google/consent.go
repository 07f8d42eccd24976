package google

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// What the app of the tests is registered as.
const (
	ClientID     = "7-lamp.apps.googleusercontent.com"
	ClientSecret = "GOCSPX-secret-of-the-app"
)

// testingEnds is how long a sign-in lasts at an app in testing.
const testingEnds = 7 * 24 * time.Hour

// consent is what the sign-in remembers.
type consent struct {
	codes     map[string]asked
	refresh   string // good again and again
	since     time.Time
	issued    int
	refreshed int
}

// asked is what a code stands for.
type asked struct {
	scopes    []string
	challenge string
	offline   bool
}

// Refreshed tells how often a refresh token was exchanged.
func (g *Google) Refreshed() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.consent.refreshed
}

// authorize is the page of consent, with a person who presses the button.
func (g *Google) authorize(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := r.URL.Query()
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || to.Host == "" || q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge") != "" && q.Get("code_challenge_method") != "S256" {
		http.Error(w, "Error 400: invalid_request", http.StatusBadRequest)
		return
	}
	g.consent.issued++
	code := fmt.Sprintf("4/code-%d", g.consent.issued)
	if g.consent.codes == nil {
		g.consent.codes = map[string]asked{}
	}
	given := slices.DeleteFunc(strings.Fields(q.Get("scope")), func(scope string) bool { return scope == g.cfg.Withheld })
	g.consent.codes[code] = asked{given, q.Get("code_challenge"), q.Get("access_type") == "offline"}
	to.RawQuery = url.Values{"state": {q.Get("state")}, "code": {code}, "scope": {strings.Join(given, " ")}}.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// token exchanges a code or a refresh token. A refresh token comes with the first answer alone.
func (g *Google) token(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	say := func(status int, value object) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(providersim.EncodeJSON(value))
	}
	if r.FormValue("client_id") != ClientID || r.FormValue("client_secret") != ClientSecret {
		say(http.StatusUnauthorized, object{"error": "invalid_client", "error_description": "Unauthorized"})
		return
	}
	scopes := g.Tokens.Current().Scopes
	out := object{"token_type": "Bearer", "expires_in": 3599}
	switch r.FormValue("grant_type") {
	case "authorization_code":
		given, known := g.consent.codes[r.FormValue("code")]
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !known || given.challenge != "" && given.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			say(http.StatusBadRequest, object{"error": "invalid_grant", "error_description": "Bad Request"})
			return
		}
		delete(g.consent.codes, r.FormValue("code"))
		scopes = given.scopes
		if given.offline {
			g.consent.refresh, g.consent.since = fmt.Sprintf("1//refresh-%d", g.consent.issued), g.cfg.Now()
			out["refresh_token"] = g.consent.refresh
		}
	case "refresh_token":
		ended := g.cfg.Testing && g.cfg.Now().Sub(g.consent.since) >= testingEnds
		if given := r.FormValue("refresh_token"); given == "" || given != g.consent.refresh || ended {
			say(http.StatusBadRequest, object{"error": "invalid_grant", "error_description": "Token has been expired or revoked."})
			return
		}
		g.consent.refreshed++
	default:
		say(http.StatusBadRequest, object{"error": "unsupported_grant_type"})
		return
	}
	g.consent.issued++
	fresh, err := g.Tokens.Change(providersim.TokenChange{Action: "rotate", Token: fmt.Sprintf("ya29.access-%d", g.consent.issued)})
	if err == nil {
		_, err = g.Tokens.Change(providersim.TokenChange{Action: "scopes", Scopes: scopes})
	}
	if err != nil {
		say(http.StatusBadRequest, object{"error": "invalid_scope"})
		return
	}
	out["access_token"], out["scope"] = fresh.Token, strings.Join(scopes, " ")
	say(http.StatusOK, out)
}
