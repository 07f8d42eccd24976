package grants

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Mode is how often a grant may be read.
type Mode = store.GrantMode

// Status is the state of a grant.
type Status string

const (
	Active   Status = "active"
	Expired  Status = "expired"
	Revoked  Status = "revoked"
	Consumed Status = "consumed" // single use, and every stream was read
)

// Grant lets a client read its scope.
type Grant struct {
	ID         string
	ClientID   string // empty if the owner created it
	ClientName string
	Purpose    string
	Mode       store.GrantMode
	Scope      GrantedStreams
	Status     Status
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	RevokedAt  *time.Time
	LastUsedAt *time.Time
	Uses       int64
	Records    int64            // that were read by it, each as often as it was
	Usage      []store.GrantUse // by stream; of One, and of those that are single use
}

// readGrant returns a stored grant with its current status.
func readGrant(g store.Grant, now time.Time) (Grant, error) {
	out := Grant{
		ID: g.ID, ClientID: g.ClientID, ClientName: g.ClientName, Purpose: g.Purpose, Mode: g.Mode, Status: Active,
		CreatedAt: g.CreatedAt, ExpiresAt: g.ExpiresAt, RevokedAt: g.RevokedAt, LastUsedAt: g.LastUsedAt, Uses: g.Uses,
		Records: g.Records,
	}
	if err := json.Unmarshal(g.Scope, &out.Scope); err != nil {
		return Grant{}, fmt.Errorf("read scope of grant: %w", err)
	}
	switch {
	case g.ExpiresAt != nil && g.RevokedAt != nil && g.RevokedAt.Equal(*g.ExpiresAt):
		out.Status, out.RevokedAt = Expired, nil // whatever the clock shows now
	case g.RevokedAt != nil:
		out.Status = Revoked
	case g.ExpiresAt != nil && !now.Before(*g.ExpiresAt):
		out.Status = Expired
	}
	return out, nil
}

// usageName is how reads of a stream are counted: by its name, and by its connection
// too when the scope has the name more than once.
func (s GrantedStreams) usageName(stream Stream) string {
	same := 0
	for _, other := range s {
		if other.Stream == stream.Stream {
			same++
		}
	}
	if same > 1 {
		return stream.Stream + " of " + stream.ConnectionID
	}
	return stream.Stream
}

func (b *Service) addUsage(ctx context.Context, g *Grant) (err error) {
	if g.Usage, err = b.store.GrantUses(ctx, g.ID); err != nil {
		return fmt.Errorf("read usage: %w", err)
	}
	if g.Mode != store.GrantSingleUse || g.Status != Active {
		return nil
	}
	begun := map[string]bool{}
	for _, u := range g.Usage {
		begun[u.Stream] = true
	}
	for _, s := range g.Scope {
		if !begun[g.Scope.usageName(s)] {
			return nil
		}
	}
	g.Status = Consumed
	return nil
}
