package auth

import (
	"context"
	"encoding/hex"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
)

// Kind is how somebody showed that they are the owner.
type Kind string

const (
	BySession Kind = "session"
	ByToken   Kind = "owner_token"
)

// Identity is who is asking. There is one owner; what differs is the way in.
type Identity struct {
	Kind    Kind
	TokenID string   // of an owner token
	scopes  []string // of an owner token
	session []byte   // digest of the session's name
	label   string   // of an owner token
	address string   // where the request comes from
}

func (i Identity) key() string {
	return string(i.Kind) + " " + i.TokenID + hex.EncodeToString(i.session)
}

type identityKey struct{}

func with(ctx context.Context, i Identity) context.Context {
	return audit.With(context.WithValue(ctx, identityKey{}, i), i.actor())
}

// From gives who is asking; false when nobody has found out.
func From(ctx context.Context) (Identity, bool) {
	i, ok := ctx.Value(identityKey{}).(Identity)
	return i, ok
}
