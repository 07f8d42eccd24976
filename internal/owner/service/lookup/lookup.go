// Package lookup finds the connections of an owner and the manifests of their connectors. It returns owner-facing
// errors for missing objects.
package lookup

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Lookup finds things over one store and one catalog. It is safe for concurrent use.
type Lookup struct {
	// Connectors finds what is installed on this machine.
	Connectors catalog.Finder

	store     store.Connections
	manifests manifestCache
}

// New makes a lookup.
func New(st store.Connections, connectors catalog.Finder) *Lookup {
	return &Lookup{Connectors: connectors, store: st}
}

// Connection returns a connection with any status.
func (l *Lookup) Connection(ctx context.Context, id string) (store.Connection, error) {
	c, err := l.store.Connection(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return c, faults.ConnectionNotFound(err)
	}
	return c, faults.OwnerError(err, "read the connection")
}

// ActiveConnection returns a connection that is not revoked.
func (l *Lookup) ActiveConnection(ctx context.Context, id string) (store.Connection, error) {
	c, err := l.Connection(ctx, id)
	switch {
	case err != nil:
	case c.Status == store.ConnectionRevoked:
		err = faults.ConnectionRevoked()
	case c.Status == store.ConnectionDraft:
		err = faults.ConnectionUnfinished()
	}
	return c, err
}

// DeclaredManifest is what a connector declares: the installed one, or as it was last seen
// where it is installed on another machine.
func (l *Lookup) DeclaredManifest(ctx context.Context, connectorID string) (*manifest.Manifest, error) {
	found, err := l.Connectors.Find(ctx, connectorID)
	if err == nil {
		return found.Manifest, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	kept, keptErr := l.StoredManifest(ctx, connectorID)
	if keptErr != nil {
		return nil, keptErr
	}
	if kept == nil {
		return nil, faults.ConnectorNotInstalled(err)
	}
	return kept, nil
}

// ConnectionNames are the display names of all connections, by id.
func (l *Lookup) ConnectionNames(ctx context.Context) (map[string]string, error) {
	all, err := l.store.ListConnections(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the connections")
	}
	out := make(map[string]string, len(all))
	for i := range all {
		out[all[i].ID] = all[i].DisplayName
	}
	return out, nil
}
