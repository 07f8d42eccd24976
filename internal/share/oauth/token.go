package oauth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// token exchanges a code for a token.
func (s *server) token(w http.ResponseWriter, r *http.Request) {
	given, ok := form(w, r)
	if !ok {
		return
	}
	if given.Get("grant_type") != "authorization_code" {
		refuse(w, http.StatusBadRequest, "unsupported_grant_type", "The grant type is authorization_code.")
		return
	}
	for _, name := range []string{"code", "redirect_uri", "client_id", "code_verifier"} {
		if given.Get(name) == "" {
			refuse(w, http.StatusBadRequest, "invalid_request", "The parameter "+name+" is missing.")
			return
		}
	}
	var g grants.Grant
	var token string
	err := s.Strangers.InTurn(r, func(ctx context.Context) (err error) {
		g, token, err = s.Grants.Redeem(ctx, given.Get("code"), given.Get("code_verifier"), given.Get("client_id"), given.Get("redirect_uri"))
		return err
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out := struct {
		Token     string    `json:"access_token"`
		Type      string    `json:"token_type"`
		ExpiresIn int64     `json:"expires_in,omitempty"`
		GrantID   string    `json:"grant_id"`
		Details   []details `json:"authorization_details"`
	}{Token: token, Type: "Bearer", GrantID: g.ID, Details: detailsOf(g)}
	if g.ExpiresAt != nil {
		out.ExpiresIn = max(1, int64(g.ExpiresAt.Sub(s.Grants.Now())/time.Second))
	}
	answer(w, http.StatusOK, out)
}

// revoke ends the grant of a token (RFC 7009). A token that nobody was given is gone
// already, which is what was asked for.
func (s *server) revoke(w http.ResponseWriter, r *http.Request) {
	given, ok := form(w, r)
	if !ok {
		return
	}
	g, err := s.inspect(r, given.Get("token"))
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

// inspect finds the grant of a token. Even a good one may be asked about by anybody who
// has it, as often as they like: they all take turns.
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

func unknown(err error) bool { return errors.Is(err, &fault.Fault{Code: grants.CodeInvalidToken}) }

// introspect says what a token is (RFC 7662). Whoever holds one may ask about it: a
// token is too long to be found by asking.
func (s *server) introspect(w http.ResponseWriter, r *http.Request) {
	given, ok := form(w, r)
	if !ok {
		return
	}
	type known struct {
		Active   bool      `json:"active"`
		Kind     string    `json:"pdpp_token_kind,omitempty"` // owner or client
		Subject  string    `json:"subject_id,omitempty"`
		GrantID  string    `json:"grant_id,omitempty"`
		ClientID string    `json:"client_id,omitempty"`
		Expires  int64     `json:"exp,omitempty"`
		Details  []details `json:"authorization_details,omitempty"`
	}
	token := given.Get("token")
	g, err := s.inspect(r, token)
	owners := false
	if unknown(err) {
		owners, err = s.isOwnerToken(r, token)
	}
	switch {
	case err != nil:
		s.fail(w, r, err)
	case owners:
		answer(w, http.StatusOK, known{Active: true, Kind: "owner", Subject: "owner"})
	case g.Status == grants.Active:
		out := known{Active: true, Kind: "client", Subject: "owner", GrantID: g.ID, ClientID: g.ClientID, Details: detailsOf(g)}
		if g.ExpiresAt != nil {
			out.Expires = g.ExpiresAt.Unix()
		}
		answer(w, http.StatusOK, out)
	default:
		answer(w, http.StatusOK, known{})
	}
}
