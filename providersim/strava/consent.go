package strava

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/providersim"
)

// consent is what the sign-in remembers.
type consent struct {
	codes   map[string]string // scopes, by code
	refresh string            // good once
	issued  int
	// Refreshed counts refresh tokens that were exchanged.
	refreshed int
}

// Refreshed tells how often a refresh token was exchanged.
func (s *Strava) Refreshed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.consent.refreshed
}

// Withdraw takes the consent back, as a person does on Strava's page of apps.
func (s *Strava) Withdraw() error {
	s.mu.Lock()
	s.consent.refresh = ""
	s.mu.Unlock()
	_, err := s.Tokens.Change(providersim.TokenChange{Action: "revoke"})
	return err
}

// authorize is the page of consent, with a person who presses the button.
func (s *Strava) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || to.Host == "" || q.Get("client_id") != ClientID || q.Get("response_type") != "code" {
		s.refuseToken(w, refuse(http.StatusBadRequest, "Bad Request", "Application", "client_id", "invalid"))
		return
	}
	var given []string
	for _, scope := range strings.Split(q.Get("scope"), ",") {
		if scope != s.cfg.Withheld {
			given = append(given, scope)
		}
	}
	s.consent.issued++
	code := fmt.Sprintf("code-%d", s.consent.issued)
	if s.consent.codes == nil {
		s.consent.codes = map[string]string{}
	}
	s.consent.codes[code] = strings.Join(given, ",")
	to.RawQuery = url.Values{"state": {q.Get("state")}, "code": {code}, "scope": {strings.Join(given, ",")}}.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

func (s *Strava) refuseToken(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	_, _ = w.Write(providersim.EncodeJSON(a.value))
}

// token exchanges a code or a refresh token.
func (s *Strava) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.FormValue("client_id") != ClientID || r.FormValue("client_secret") != ClientSecret {
		s.refuseToken(w, refuse(http.StatusUnauthorized, "Authorization Error", "Application", "client_secret", "invalid"))
		return
	}
	var scopes []string
	switch r.FormValue("grant_type") {
	case "authorization_code":
		given, known := s.consent.codes[r.FormValue("code")]
		if !known {
			s.refuseToken(w, refuse(http.StatusBadRequest, "Bad Request", "AuthorizationCode", "code", "invalid"))
			return
		}
		delete(s.consent.codes, r.FormValue("code"))
		scopes = strings.Split(given, ",")
	case "refresh_token":
		if given := r.FormValue("refresh_token"); given == "" || given != s.consent.refresh {
			s.refuseToken(w, refuse(http.StatusBadRequest, "Bad Request", "RefreshToken", "refresh_token", "invalid"))
			return
		}
		s.consent.refreshed++
		scopes = s.Tokens.Current().Scopes
	default:
		s.refuseToken(w, refuse(http.StatusBadRequest, "Bad Request", "Application", "grant_type", "invalid"))
		return
	}
	s.consent.issued++
	s.consent.refresh = fmt.Sprintf("refresh-%d", s.consent.issued)
	fresh, err := s.Tokens.Change(providersim.TokenChange{Action: "rotate", Token: fmt.Sprintf("access-%d", s.consent.issued)})
	if err == nil {
		_, err = s.Tokens.Change(providersim.TokenChange{Action: "scopes", Scopes: scopes})
	}
	if err != nil {
		s.refuseToken(w, answer{http.StatusInternalServerError, object{"message": "error"}})
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(providersim.EncodeJSON(object{"token_type": "Bearer", "access_token": fresh.Token, "expires_in": 21600,
		"expires_at": s.cfg.Now().Unix() + 21600, "refresh_token": s.consent.refresh, "athlete": object{"id": ownID}}))
}
