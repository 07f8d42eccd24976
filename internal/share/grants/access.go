package grants

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Access is who reads: a client with a grant, or the owner.
type Access struct {
	grant *Grant // nil for the owner
}

// OwnerAccess reads everything.
func OwnerAccess() Access { return Access{} }

// Grant is the grant that is read by; nil for the owner.
func (a Access) Grant() *Grant { return a.grant }

// ID distinguishes the readers of cursors.
func (a Access) ID() string {
	if a.grant == nil {
		return "owner"
	}
	return a.grant.ID
}

// SingleUse reports whether each stream may be read through once.
func (a Access) SingleUse() bool { return a.grant != nil && a.grant.Mode == store.GrantSingleUse }

// Bearer takes the token out of an Authorization header. The scheme is written in any
// case, as HTTP has it.
func Bearer(header string) (string, error) {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", Refused(CodeUnauthenticated, "", "A bearer token is needed to read here.",
			"Send the header Authorization: Bearer with the token of a grant.")
	}
	return token, nil
}

// IsToken reports whether a text has the form of a grant's token.
func IsToken(text string) bool {
	_, ok := audienceOf(TokenPrefix, text)
	return ok
}

// UnknownToken refuses a token that is none of a grant.
func UnknownToken() error {
	return Refused(CodeInvalidToken, "", "The token is not one of a grant.", "Use the token as it was given.")
}

// Access finds out what the bearer of a token may read now.
func (b *Service) Access(ctx context.Context, token string) (Access, error) {
	g, err := b.byToken(ctx, token)
	return accessTo(g, err)
}

// AccessOf finds out what a grant allows to read now.
func (b *Service) AccessOf(ctx context.Context, grantID string) (Access, error) {
	kept, err := b.store.Grant(ctx, grantID)
	g, err := b.current(ctx, kept, err)
	return accessTo(g, err)
}

func accessTo(g Grant, err error) (Access, error) {
	if err != nil {
		return Access{}, err
	}
	switch g.Status {
	case Revoked:
		return Access{}, Refused(CodeGrantRevoked, "", "The owner has taken this grant back.",
			"Ask the owner for a new grant.")
	case Expired:
		return Access{}, Refused(CodeGrantExpired, "", "This grant has ended.", "Ask the owner for a new grant.")
	}
	return Access{grant: &g}, nil
}

func (b *Service) byToken(ctx context.Context, token string) (Grant, error) {
	if !IsToken(token) {
		return Grant{}, UnknownToken()
	}
	kept, err := b.store.GrantByToken(ctx, hashOf(token))
	return b.current(ctx, kept, err)
}

// current returns a grant that was read, and records that it expired.
func (b *Service) current(ctx context.Context, kept store.Grant, err error) (Grant, error) {
	if errors.Is(err, store.ErrNotFound) {
		return Grant{}, UnknownToken()
	}
	if err != nil {
		return Grant{}, fmt.Errorf("find grant: %w", err)
	}
	now := b.now()
	g, err := readGrant(kept, now)
	if err == nil && g.Status == Expired && kept.RevokedAt == nil {
		if err := b.store.EndGrants(ctx, now.UTC()); err != nil {
			return Grant{}, fmt.Errorf("record that a grant expired: %w", err)
		}
	}
	return g, err
}

// Views returns what may be read, in a stable order; an empty stream or connection means all. Clients learn only that
// something was not granted.
func (b *Service) Views(ctx context.Context, a Access, stream, connectionID string) ([]StreamView, error) {
	if a.grant == nil {
		return b.ownerViews(ctx, stream, connectionID)
	}
	var views []StreamView
	for _, s := range a.grant.Scope {
		if stream != "" && s.Stream != stream || connectionID != "" && s.ConnectionID != connectionID {
			continue
		}
		v, err := b.grantedView(ctx, s)
		if err != nil {
			return nil, err
		}
		v.usage = a.grant.Scope.usageName(s)
		views = append(views, v)
	}
	if len(views) == 0 {
		return nil, Refused(CodeInsufficientScope, "", "The grant does not cover that.",
			"GET /v1/streams lists what it covers.")
	}
	return views, nil
}

// grantedView is the scope's even when the connector declares the stream no more: its
// records are still those that were granted.
func (b *Service) grantedView(ctx context.Context, s Stream) (StreamView, error) {
	v := StreamView{stream: s}
	c, err := b.store.Connection(ctx, s.ConnectionID)
	if errors.Is(err, store.ErrNotFound) {
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("find connection: %w", err)
	}
	v.ConnectorID = c.ConnectorID
	src, err := b.sources.sourceOf(ctx, c.ConnectorID)
	if errors.Is(err, store.ErrNotFound) {
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("find manifest: %w", err)
	}
	v.ConnectorName, v.declared, v.siblings = src.manifest.DisplayName, src.streams[s.Stream], src.streams
	return v, nil
}

// Turn is one page of the only reading that a single-use grant allows: the cursor that it
// was asked for with, and the one that goes on. Empty are those that there are not.
type Turn struct{ After, Next string }

// Used counts a read of some records. With a turn each page is returned once, so a copied cursor is useless.
func (b *Service) Used(ctx context.Context, a Access, v StreamView, records int, turn *Turn) error {
	if a.grant == nil {
		return nil
	}
	var kept *store.GrantPage
	if turn != nil {
		kept = &store.GrantPage{After: hashOrNil(turn.After), Next: hashOrNil(turn.Next)}
	}
	trace := audit.ReadBy(ctx, v.usage, int64(records), b.now())
	err := b.store.UseGrant(ctx, a.grant.ID, v.usage, int64(records), kept, b.now().UTC(), trace)
	if turn != nil && errors.Is(err, store.ErrExists) {
		return Refused(CodeGrantConsumed, "", "The grant allowed to read this stream once, and this page was read.",
			"Ask the owner for a new grant.")
	}
	if err != nil {
		return fmt.Errorf("count the use of a grant: %w", err)
	}
	return nil
}

func hashOrNil(cursor string) []byte {
	if cursor == "" {
		return nil
	}
	return hashOf(cursor)
}
