package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Consent is the OAuth sign-in of a provider, with a person who presses the button.
type Consent struct {
	Authorize, Exchange    string // routes, as in "GET /oauth/authorize" and "POST /oauth/token"
	ClientID, ClientSecret string
	Separator              string // between scopes; empty is a space
	Withheld               string // a scope that the person unticks

	// Once makes a refresh token good for one use: every answer has a new one. Otherwise only the answer to a code that
	// was requested with access_type=offline has one, and it serves until Lasts has passed; zero is for ever.
	Once  bool
	Lasts time.Duration

	Expires time.Duration // how long an access token lasts, as announced
	Scopes  bool          // an answer names the scopes
	Members Object        // further members of an answer
	// Refuse renders a refusal; its problem is one of OAuth's error codes.
	Refuse func(problem string) Answer
}

// consentState is what the sign-in remembers.
type consentState struct {
	codes     map[string]consentRequest
	refresh   string
	since     time.Time
	issued    int
	refreshed int
}

// consentRequest is the request that a code was issued for.
type consentRequest struct {
	scopes    []string
	challenge string
	offline   bool
}

// Refreshed returns how often a refresh token was exchanged.
func (s *Service) Refreshed() (n int) {
	s.Do(func() { n = s.consent.refreshed })
	return n
}

// Withdraw revokes the consent, as a person does on the provider's page of apps.
func (s *Service) Withdraw() error {
	s.Do(func() { s.consent.refresh = "" })
	_, err := s.Tokens.Change(providersim.TokenChange{Action: "revoke"})
	return err
}

// HandleConsent serves the two routes of a sign-in.
func (s *Service) HandleConsent(c Consent) {
	if c.Separator == "" {
		c.Separator = " "
	}
	s.consent.codes = map[string]consentRequest{}
	s.HandleOpen(c.Authorize, func(r *http.Request) Answer { return s.authorize(c, r) })
	s.HandleOpen(c.Exchange, func(r *http.Request) Answer { return s.exchange(c, r) })
}

func (s *Service) authorize(c Consent, r *http.Request) Answer {
	q := r.URL.Query()
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || to.Host == "" || q.Get("client_id") != c.ClientID || q.Get("response_type") != "code" ||
		q.Get("code_challenge") != "" && q.Get("code_challenge_method") != "S256" {
		return c.Refuse("invalid_request")
	}
	s.consent.issued++
	code := fmt.Sprintf("code-%d", s.consent.issued)
	scopes := slices.DeleteFunc(strings.Split(q.Get("scope"), c.Separator),
		func(scope string) bool { return scope == c.Withheld })
	s.consent.codes[code] = consentRequest{scopes, q.Get("code_challenge"), q.Get("access_type") == "offline"}
	to.RawQuery = url.Values{"state": {q.Get("state")}, "code": {code},
		"scope": {strings.Join(scopes, c.Separator)}}.Encode()
	return Answer{Status: http.StatusFound, Body: "", Header: http.Header{"Location": {to.String()}}}
}

// exchange answers a code or a refresh token with an access token.
func (s *Service) exchange(c Consent, r *http.Request) Answer {
	if r.FormValue("client_id") != c.ClientID || r.FormValue("client_secret") != c.ClientSecret {
		return c.Refuse("invalid_client")
	}
	scopes, renew := s.Tokens.Current().Scopes, c.Once
	switch r.FormValue("grant_type") {
	case "authorization_code":
		request, known := s.consent.codes[r.FormValue("code")]
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !known || request.challenge != "" && request.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			return c.Refuse("invalid_grant")
		}
		delete(s.consent.codes, r.FormValue("code"))
		scopes, renew = request.scopes, c.Once || request.offline
	case "refresh_token":
		ended := c.Lasts > 0 && s.Now().Sub(s.consent.since) >= c.Lasts
		if token := r.FormValue("refresh_token"); token == "" || token != s.consent.refresh || ended {
			return c.Refuse("invalid_grant")
		}
		s.consent.refreshed++
	default:
		return c.Refuse("unsupported_grant_type")
	}
	s.consent.issued++
	fresh, err := s.Tokens.Change(providersim.TokenChange{Action: "rotate",
		Token: fmt.Sprintf("access-%d", s.consent.issued)})
	if err == nil {
		_, err = s.Tokens.Change(providersim.TokenChange{Action: "scopes", Scopes: scopes})
	}
	if err != nil {
		return c.Refuse("invalid_scope")
	}
	out := Object{"token_type": "Bearer", "access_token": fresh.Token, "expires_in": int(c.Expires.Seconds()),
		"expires_at": s.Now().Add(c.Expires).Unix()}
	if c.Scopes {
		out["scope"] = strings.Join(scopes, c.Separator)
	}
	if renew {
		s.consent.refresh, s.consent.since = fmt.Sprintf("refresh-%d", s.consent.issued), s.Now()
		out["refresh_token"] = s.consent.refresh
	}
	maps.Copy(out, c.Members)
	return OK(out)
}
