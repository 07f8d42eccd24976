package grants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Store is what grants are kept in.
type Store interface {
	store.Grants
	store.Records
	store.Connections
	store.Coverages
	Settings
}

// Service keeps the grants.
type Service struct {
	store   Store
	sources sources
	issuer  string
	now     func() time.Time
	// Documents fetches the metadata documents of apps. Nil refuses apps that are known by a document.
	Documents Documents
}

// NewService makes one. Issuer is the address by which apps know this server, with
// no slash at its end; now is nil for the real time.
func NewService(kept Store, issuer string, now func() time.Time) *Service {
	if now == nil {
		now = time.Now
	}
	return &Service{store: kept, sources: sources{kept: kept}, issuer: issuer, now: now}
}

// Now is the time by which grants end.
func (b *Service) Now() time.Time { return b.now() }

// New is what an owner wants to grant.
type New struct {
	ClientName string
	Purpose    string
	Mode       store.GrantMode // empty means continuous
	Scope      GrantedStreams
	Profiles   []ProfileOf // their streams are added to the scope
	End
}

// UsualDays is how many days a grant lasts if neither the app nor the owner chooses.
const UsualDays = 90

// End is when a grant ends. Zero means after UsualDays.
type End struct {
	At    *time.Time
	Never bool // until the owner takes it back
}

// after returns the time of an end that is chosen now; nil means never.
func (e End) after(now time.Time) (*time.Time, error) {
	switch {
	case e.Never && e.At != nil:
		return nil, invalid("never_expires", "The grant cannot both end and never end.", "Send expires_at, or never_expires.")
	case e.Never:
		return nil, nil
	case e.At == nil:
		at := now.AddDate(0, 0, UsualDays)
		return &at, nil
	}
	return future(e.At, now)
}

// Create creates a grant and its token, which is returned only here.
func (b *Service) Create(ctx context.Context, n New) (Grant, string, error) {
	now := b.now().UTC()
	g := store.Grant{ID: newID("gr_"), CreatedAt: now}
	var err error
	if g.ClientName, err = shown("client_name", n.ClientName, maxName, true); err != nil {
		return Grant{}, "", err
	}
	if g.Purpose, err = shown("purpose", n.Purpose, maxPurpose, false); err != nil {
		return Grant{}, "", err
	}
	if g.Mode, err = modeOf(n.Mode); err != nil {
		return Grant{}, "", err
	}
	if g.ExpiresAt, err = n.End.after(now); err != nil {
		return Grant{}, "", err
	}
	wanted, err := b.withProfiles(ctx, n.Scope, n.Profiles)
	if err != nil {
		return Grant{}, "", err
	}
	scope, err := b.normalizeScope(ctx, wanted)
	if err != nil {
		return Grant{}, "", err
	}
	if g.Scope, err = json.Marshal(scope); err != nil {
		return Grant{}, "", fmt.Errorf("write scope: %w", err)
	}
	token, hash := newSecret(TokenPrefix)
	if err := b.store.CreateGrant(ctx, g, hash); err != nil {
		return Grant{}, "", fmt.Errorf("keep grant: %w", err)
	}
	made, err := readGrant(g, now)
	return made, token, err
}

// List returns every grant, the newest first.
func (b *Service) List(ctx context.Context) ([]Grant, error) {
	kept, err := b.store.Grants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	all := make([]Grant, len(kept))
	for i, g := range kept {
		if all[i], err = readGrant(g, b.now()); err != nil {
			return nil, err
		}
		if g.Mode == store.GrantSingleUse {
			if err := b.addUsage(ctx, &all[i]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// One returns a grant with its usage.
func (b *Service) One(ctx context.Context, id string) (Grant, error) {
	kept, err := b.store.Grant(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return Grant{}, errNoGrant()
	}
	if err != nil {
		return Grant{}, fmt.Errorf("find grant: %w", err)
	}
	g, err := readGrant(kept, b.now())
	if err == nil {
		err = b.addUsage(ctx, &g)
	}
	return g, err
}

// Revoke ends a grant at once. Ending it again changes nothing.
func (b *Service) Revoke(ctx context.Context, id string) error {
	err := b.store.RevokeGrant(ctx, id, b.now().UTC())
	if errors.Is(err, store.ErrNotFound) {
		return errNoGrant()
	}
	if err != nil {
		return fmt.Errorf("revoke grant: %w", err)
	}
	return nil
}

func modeOf(m store.GrantMode) (store.GrantMode, error) {
	switch m {
	case "", store.GrantContinuous:
		return store.GrantContinuous, nil
	case store.GrantSingleUse:
		return m, nil
	}
	return "", invalid("access_mode", "The access mode is not known.", "Use single_use or continuous.")
}

func future(at *time.Time, now time.Time) (*time.Time, error) {
	if at == nil {
		return nil, nil
	}
	utc := at.UTC() // a year beyond 9999 there would not sort among the others
	if !utc.After(now) || utc.Year() > 9999 {
		return nil, invalid("expires_at", "The end of the grant is not in the future.", "Choose a later date, or none.")
	}
	return &utc, nil
}

func errNoGrant() error {
	return &usererr.Error{Status: http.StatusNotFound, Code: CodeNotFound, Message: "There is no such grant.",
		Next: "List the grants to see which there are."}
}
