package auth

import (
	"context"
	"encoding/hex"

	"github.com/pdpp-go/pdpp/internal/storage/audit"
)

// ProofKind is how the caller proved to be the owner.
type ProofKind string

const (
	BySession ProofKind = "session"
	ByToken   ProofKind = "owner_token"
)

// Identity is who is asking. There is one owner; what differs is the way in.
type Identity struct {
	Kind    ProofKind
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

func withIdentity(ctx context.Context, i Identity) context.Context {
	return audit.WithActor(context.WithValue(ctx, identityKey{}, i), i.actor())
}

// From returns the caller; false if it was not determined.
func From(ctx context.Context) (Identity, bool) {
	i, ok := ctx.Value(identityKey{}).(Identity)
	return i, ok
}
