package settings

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// Tokens lists the owner tokens, revoked ones too, the newest first.
func (a *Settings) Tokens(ctx context.Context) ([]api.Token, error) {
	all, err := a.Access.Tokens(ctx)
	return convertAll(all, showToken), faults.OwnerError(err, "list the tokens")
}

// CreateToken creates an owner token and returns its secret. The secret cannot be read again.
func (a *Settings) CreateToken(ctx context.Context, n api.NewToken) (api.Token, string, error) {
	t, secret, err := a.Access.CreateToken(ctx, auth.NewToken{Label: n.Label, Scopes: n.Scopes, ExpiresAt: n.ExpiresAt,
		Never: n.NeverExpires})
	if err != nil {
		return api.Token{}, "", faults.OwnerError(err, "make the token")
	}
	return showToken(t), secret, nil
}

// RevokeToken ends a token at once.
func (a *Settings) RevokeToken(ctx context.Context, id string) error {
	return accessEndError(a.Access.RevokeToken(ctx, id), "revoke the token", "There is no such token.",
		"Choose one of your tokens.")
}

// Sessions lists the browsers in which the owner is signed in, the last seen first.
func (a *Settings) Sessions(ctx context.Context) ([]api.Session, error) {
	all, err := a.Access.SignedIn(ctx)
	return convertAll(all, func(s auth.SignedIn) api.Session {
		return api.Session{
			ID: s.ID, Browser: s.Browser, Address: s.Address, Method: string(s.Method), SignedInAt: s.At, SeenAt: s.SeenAt,
			Current: s.Current,
		}
	}), faults.OwnerError(err, "list the sessions")
}

// EndSession signs a browser out.
func (a *Settings) EndSession(ctx context.Context, id string) error {
	return accessEndError(a.Access.EndSession(ctx, id), "end the session", "That browser is already signed out.",
		"Look at the list again.")
}

// EndSessions signs every browser out but the one that asks.
func (a *Settings) EndSessions(ctx context.Context) error {
	return faults.OwnerError(a.Access.EndSessions(ctx), "end the sessions")
}

// Passkeys lists all, the newest first.
func (a *Settings) Passkeys(ctx context.Context) ([]api.Passkey, error) {
	all, err := a.Access.Passkeys(ctx)
	return convertAll(all, func(k store.Passkey) api.Passkey {
		return api.Passkey{ID: k.ID, Label: k.Label, Host: k.Host, CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt}
	}), faults.OwnerError(err, "list the passkeys")
}

// RemovePasskey ends a passkey at once.
func (a *Settings) RemovePasskey(ctx context.Context, id string) error {
	return accessEndError(a.Access.RemovePasskey(ctx, id), "remove the passkey", "There is no such passkey.",
		"Choose one of your passkeys.")
}

// RecoveryCodes returns how many codes are left.
func (a *Settings) RecoveryCodes(ctx context.Context) (api.RecoveryCodes, error) {
	c, err := a.Access.RecoveryCodes(ctx)
	return api.RecoveryCodes{Made: c.Made, Left: c.Left, CreatedAt: c.CreatedAt}, faults.OwnerError(err, "count the codes")
}

// MakeRecoveryCodes makes new codes; the old ones end.
func (a *Settings) MakeRecoveryCodes(ctx context.Context) ([]string, error) {
	codes, err := a.Access.MakeRecoveryCodes(ctx)
	return codes, faults.OwnerError(err, "make the codes")
}

// SetPassword ends all other sessions, and the owner tokens unless they are kept.
func (a *Settings) SetPassword(ctx context.Context, p api.NewPassword) error {
	return faults.OwnerError(a.Access.SetPassword(ctx, p.Password, p.KeepTokens), "change the password")
}

// convertAll applies show to every element. It returns nil for nil.
func convertAll[From, To any](all []From, show func(From) To) []To {
	if all == nil {
		return nil
	}
	out := make([]To, len(all))
	for i, one := range all {
		out[i] = show(one)
	}
	return out
}

// accessEndError returns a not-found error with the message for an object that does not exist. It
// converts other errors with OwnerError.
func accessEndError(err error, doing, message, next string) error {
	if errors.Is(err, store.ErrNotFound) {
		e := api.NotFound(message, next)
		e.Err = err
		return e
	}
	return faults.OwnerError(err, doing)
}

func showToken(t store.OwnerToken) api.Token {
	return api.Token{
		ID: t.ID, Label: t.Label, Prefix: t.Prefix, Scopes: t.Scopes, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt,
		LastUsedAt: t.LastUsedAt, RevokedAt: t.RevokedAt,
	}
}
