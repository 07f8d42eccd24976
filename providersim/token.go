package providersim

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// TokenState is how a provider sees a credential.
type TokenState string

const (
	TokenActive  TokenState = "active"
	TokenExpired TokenState = "expired"
	// TokenRevoked is also the state of a token that was never issued.
	TokenRevoked TokenState = "revoked"
	// TokenMissing means that the request carried no well-formed token.
	TokenMissing TokenState = "missing"
	// TokenUnderScoped means that the token is active but lacks the scope.
	TokenUnderScoped TokenState = "under_scoped"
)

// TokenChange is the body of POST /token. Action is one of
//
//	rotate  issue Token (or a derived one when empty) and revoke the previous
//	expire  let the current token run out
//	revoke  withdraw the current token
//	scopes  limit the current token to Scopes
type TokenChange struct {
	Action string   `json:"action"`
	Token  string   `json:"token,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
}

// TokenStatus describes the current token.
type TokenStatus struct {
	Token  string     `json:"token"`
	State  TokenState `json:"state"`
	Scopes []string   `json:"scopes"`
}

// Tokens holds the bearer tokens of one account. It is safe for concurrent use.
type Tokens struct {
	mu     sync.Mutex
	first  string
	all    []string // scopes a fresh token has
	issued []TokenStatus
}

// NewTokens returns an account with one active token that has all scopes.
func NewTokens(token string, scopes ...string) *Tokens {
	return &Tokens{
		first: token, all: scopes,
		issued: []TokenStatus{{Token: token, State: TokenActive, Scopes: scopes}},
	}
}

// Check judges the Authorization header of a request. An empty scope asks for
// an active token only.
func (t *Tokens) Check(authorization, scope string) TokenState {
	token := bearerToken(authorization)
	if token == "" {
		return TokenMissing
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.findToken(token)
	switch {
	case i < 0:
		return TokenRevoked
	case t.issued[i].State == TokenActive && scope != "" && !slices.Contains(t.issued[i].Scopes, scope):
		return TokenUnderScoped
	}
	return t.issued[i].State
}

// Label names the token of an Authorization header without revealing it.
func (t *Tokens) Label(authorization string) string {
	token := bearerToken(authorization)
	if token == "" {
		return "none"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.findToken(token); i >= 0 {
		return fmt.Sprintf("token-%d", i+1)
	}
	return "unknown"
}

// Current returns the token issued last.
func (t *Tokens) Current() TokenStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.issued[len(t.issued)-1]
}

// Change applies a change and returns the current token after it.
func (t *Tokens) Change(c TokenChange) (TokenStatus, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	current := &t.issued[len(t.issued)-1]
	switch c.Action {
	case "rotate":
		token := c.Token
		if token == "" {
			token = fmt.Sprintf("%s-%d", t.first, len(t.issued)+1)
		}
		if t.findToken(token) >= 0 || bearerToken("Bearer "+token) == "" {
			return TokenStatus{}, fmt.Errorf("rotate: token is malformed or was issued before")
		}
		current.State = TokenRevoked
		t.issued = append(t.issued, TokenStatus{Token: token, State: TokenActive, Scopes: t.all})
	case "expire":
		current.State = TokenExpired
	case "revoke":
		current.State = TokenRevoked
	case "scopes":
		for _, scope := range c.Scopes {
			if !slices.Contains(t.all, scope) {
				return TokenStatus{}, fmt.Errorf("scopes: unknown scope %q", scope)
			}
		}
		current.Scopes = append([]string{}, c.Scopes...)
	default:
		return TokenStatus{}, fmt.Errorf("unknown token action %q", c.Action)
	}
	return t.issued[len(t.issued)-1], nil
}

func (t *Tokens) findToken(token string) int {
	return slices.IndexFunc(t.issued, func(s TokenStatus) bool { return s.Token == token })
}

// bearerToken returns the token of an Authorization header, or nothing when the
// header is not of the form "Bearer <token>".
func bearerToken(authorization string) string {
	scheme, token, ok := strings.Cut(authorization, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || strings.ContainsAny(token, " \t\r\n,") {
		return ""
	}
	return token
}
