package oauth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// token exchanges a code for a token.
func (s *server) token(w http.ResponseWriter, r *http.Request) {
	parameters, ok := parseForm(w, r)
	if !ok {
		return
	}
	if parameters.Get("grant_type") != "authorization_code" {
		writeOAuthError(w, http.StatusBadRequest, "unsupported_grant_type", "The grant type is authorization_code.")
		return
	}
	for _, name := range []string{"code", "redirect_uri", "client_id", "code_verifier"} {
		if parameters.Get(name) == "" {
			writeOAuthError(w, http.StatusBadRequest, "invalid_request", "The parameter "+name+" is missing.")
			return
		}
	}
	// The audience is a part of the code. A token for another one is refused before the code is used up.
	if audience, err := s.audience(parameters.Get("resource")); err != nil {
		s.fail(w, r, err)
		return
	} else if audience != grants.AnyAudience && audience != grants.CodeAudience(parameters.Get("code")) {
		writeOAuthError(w, http.StatusBadRequest, "invalid_target", "The code was issued for another resource.")
		return
	}
	var g grants.Grant
	var token string
	err := s.Strangers.InTurn(r, func(ctx context.Context) (err error) {
		g, token, err = s.Grants.Redeem(ctx, parameters.Get("code"), parameters.Get("code_verifier"),
			parameters.Get("client_id"), parameters.Get("redirect_uri"))
		return err
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out := issuedToken{Token: token, Type: "Bearer", GrantID: g.ID, Details: detailsOf(g)}
	if g.ExpiresAt != nil {
		out.ExpiresIn = max(1, int64(g.ExpiresAt.Sub(s.Grants.Now())/time.Second))
	}
	answer(w, http.StatusOK, out)
}

// revoke ends the grant of a token (RFC 7009). An unknown token counts as revoked already.
func (s *server) revoke(w http.ResponseWriter, r *http.Request) {
	parameters, ok := parseForm(w, r)
	if !ok {
		return
	}
	g, err := s.inspect(r, parameters.Get("token"))
	if err == nil {
		err = s.Grants.Revoke(r.Context(), g.ID)
	}
	if err != nil && !unknown(err) {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

// inspect returns the grant of a token. Anyone who holds a token may ask about it any number of times, so these
// lookups are queued.
func (s *server) inspect(r *http.Request, token string) (g grants.Grant, err error) {
	if !grants.IsToken(token) {
		return g, grants.UnknownToken()
	}
	err = s.Strangers.InTurn(r, func(ctx context.Context) (err error) {
		g, err = s.Grants.Inspect(ctx, token)
		return err
	})
	return g, err
}

// isOwnerToken reports whether a token is one of the owner's.
func (s *server) isOwnerToken(r *http.Request, token string) (bool, error) {
	if s.IsOwnerToken == nil {
		return false, nil
	}
	return s.IsOwnerToken(r, token)
}

func unknown(err error) bool { return errors.Is(err, &usererr.Error{Code: grants.CodeInvalidToken}) }

// introspection is what a token is.
type introspection struct {
	Active   bool                  `json:"active"`
	Kind     string                `json:"pdpp_token_kind,omitempty" enum:"owner,client"`
	Subject  string                `json:"subject_id,omitempty"`
	GrantID  string                `json:"grant_id,omitempty"`
	ClientID string                `json:"client_id,omitempty"`
	Expires  int64                 `json:"exp,omitempty"`
	Details  []authorizationDetail `json:"authorization_details,omitempty"`
}

// issuedToken is the token of a grant.
type issuedToken struct {
	Token     string                `json:"access_token"`
	Type      string                `json:"token_type" enum:"Bearer"`
	ExpiresIn int64                 `json:"expires_in,omitempty"`
	GrantID   string                `json:"grant_id"`
	Details   []authorizationDetail `json:"authorization_details"`
}

// introspect describes a token (RFC 7662). Its holder may ask about it: tokens are too long to be guessed.
func (s *server) introspect(w http.ResponseWriter, r *http.Request) {
	parameters, ok := parseForm(w, r)
	if !ok {
		return
	}
	token := parameters.Get("token")
	g, err := s.inspect(r, token)
	owners := false
	if unknown(err) {
		owners, err = s.isOwnerToken(r, token)
	}
	switch {
	case err != nil:
		s.fail(w, r, err)
	case owners:
		answer(w, http.StatusOK, introspection{Active: true, Kind: "owner", Subject: "owner"})
	case g.Status == grants.Active:
		out := introspection{Active: true, Kind: "client", Subject: "owner", GrantID: g.ID, ClientID: g.ClientID,
			Details: detailsOf(g)}
		if g.ExpiresAt != nil {
			out.Expires = g.ExpiresAt.Unix()
		}
		answer(w, http.StatusOK, out)
	default:
		answer(w, http.StatusOK, introspection{})
	}
}
