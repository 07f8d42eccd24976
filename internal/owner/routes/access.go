package routes

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// newToken is an owner token with what is known of it. The token is shown here and
// never again.
type newToken struct {
	OwnerToken api.Token `json:"owner_token"`
	Token      string    `json:"token"`
}

// newCodes are recovery codes, shown here and never again.
type newCodes struct {
	Codes []string `json:"codes"`
}

func (s *surface) access() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/tokens", func(r *http.Request) (any, error) {
			return listOf(s.owner.Tokens(r.Context()))
		}),
		take(s, "POST /_ref/tokens", http.StatusCreated, func(r *http.Request, t api.NewToken) (any, error) {
			made, token, err := s.owner.CreateToken(r.Context(), t)
			return newToken{made, token}, err
		}),
		s.act("POST /_ref/tokens/{id}/revoke", func(r *http.Request) error {
			return s.owner.RevokeToken(r.Context(), id(r))
		}),
		s.get("GET /_ref/sessions", func(r *http.Request) (any, error) {
			return listOf(s.owner.Sessions(r.Context()))
		}),
		s.act("POST /_ref/sessions/{id}/end", func(r *http.Request) error {
			return s.owner.EndSession(r.Context(), id(r))
		}),
		s.act("POST /_ref/sessions/end", func(r *http.Request) error {
			return s.owner.EndSessions(r.Context())
		}),
		s.get("GET /_ref/passkeys", func(r *http.Request) (any, error) {
			return listOf(s.owner.Passkeys(r.Context()))
		}),
		s.act("DELETE /_ref/passkeys/{id}", func(r *http.Request) error {
			return s.owner.RemovePasskey(r.Context(), id(r))
		}),
		s.get("GET /_ref/recovery-codes", func(r *http.Request) (any, error) {
			return s.owner.RecoveryCodes(r.Context())
		}),
		s.answer("POST /_ref/recovery-codes", http.StatusCreated, func(r *http.Request) (any, error) {
			codes, err := s.owner.MakeRecoveryCodes(r.Context())
			return newCodes{codes}, err
		}),
		put(s, "PUT /_ref/password", func(r *http.Request, p api.NewPassword) error {
			return s.owner.SetPassword(r.Context(), p)
		}),
	}
}
