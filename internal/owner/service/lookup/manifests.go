package lookup

import (
	"context"
	"errors"
	"sync"

	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// manifestCache caches parsed manifests, because parsing one takes longer than reading a page of records. Callers
// share the cached manifests and must not change them.
type manifestCache struct {
	mu    sync.Mutex
	known map[string]generation
}

// generation is one state of a connector's declaration; its number rises when that changes.
type generation struct {
	number int64
	body   *manifest.Manifest
}

func (m *manifestCache) cachedManifest(connectorID string, number int64) (*manifest.Manifest, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g, ok := m.known[connectorID]
	return g.body, ok && g.number == number
}

func (m *manifestCache) cacheManifest(connectorID string, g generation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]generation{}
	}
	m.known[connectorID] = g
}

// StoredManifest is what a connector declared when it was last seen; nil when it never was, or
// when what is kept is not readable any more.
func (l *Lookup) StoredManifest(ctx context.Context, connectorID string) (*manifest.Manifest, error) {
	body, number, err := l.store.Manifest(ctx, connectorID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, faults.OwnerError(err, "read the manifest")
	}
	if m, ok := l.manifests.cachedManifest(connectorID, number); ok {
		return m, nil
	}
	m, err := manifest.Parse(body)
	if err != nil {
		m = nil
	}
	l.manifests.cacheManifest(connectorID, generation{number, m})
	return m, nil
}

// ManifestOf returns the latest stored manifest of a connection's connector, as StoredManifest does.
func (l *Lookup) ManifestOf(ctx context.Context, connectionID string) (*manifest.Manifest, error) {
	connectorID, number, err := l.store.ConnectorGeneration(ctx, connectionID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, faults.ConnectionNotFound(err)
	}
	if err != nil {
		return nil, faults.OwnerError(err, "read the connection")
	}
	if m, ok := l.manifests.cachedManifest(connectorID, number); ok {
		return m, nil
	}
	return l.StoredManifest(ctx, connectorID)
}

// ManifestLibrary asks the store for each connector's manifest once, for the length of a list.
type Library struct {
	lookup *Lookup
	known  map[string]*manifest.Manifest
}

// ManifestLibrary opens one, for one list.
func (l *Lookup) ManifestLibrary() *Library {
	return &Library{lookup: l, known: map[string]*manifest.Manifest{}}
}

// ManifestOf returns the manifest of a connector; nil for a connector that was never seen.
func (b *Library) ManifestOf(ctx context.Context, connectorID string) (*manifest.Manifest, error) {
	if m, ok := b.known[connectorID]; ok {
		return m, nil
	}
	m, err := b.lookup.StoredManifest(ctx, connectorID)
	if err != nil {
		return nil, err
	}
	b.known[connectorID] = m
	return m, nil
}
