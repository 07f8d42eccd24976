package lookup

import (
	"context"
	"errors"
	"sync"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/manifest"
)

// manifests remembers what connectors declared, because reading a declaration takes
// longer than a page of records. What it gives is read by many and changed by nobody.
type manifests struct {
	mu    sync.Mutex
	known map[string]generation
}

// generation is one state of a connector's declaration; its number rises when that changes.
type generation struct {
	number int64
	body   *manifest.Manifest
}

func (m *manifests) get(connectorID string, number int64) (*manifest.Manifest, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g, ok := m.known[connectorID]
	return g.body, ok && g.number == number
}

func (m *manifests) put(connectorID string, g generation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]generation{}
	}
	m.known[connectorID] = g
}

// Manifest is what a connector declared when it was last seen; nil when it never was, or
// when what is kept is not readable any more.
func (l *Lookup) Manifest(ctx context.Context, connectorID string) (*manifest.Manifest, error) {
	body, number, err := l.store.Manifest(ctx, connectorID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, faults.Error(err, "read the manifest")
	}
	if m, ok := l.manifests.get(connectorID, number); ok {
		return m, nil
	}
	m, err := manifest.Parse(body)
	if err != nil {
		m = nil
	}
	l.manifests.put(connectorID, generation{number, m})
	return m, nil
}

// ManifestOf is what the connector of a connection declared when it was last seen, as Manifest gives it.
func (l *Lookup) ManifestOf(ctx context.Context, connectionID string) (*manifest.Manifest, error) {
	connectorID, number, err := l.store.Declared(ctx, connectionID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, faults.NoConnection(err)
	}
	if err != nil {
		return nil, faults.Error(err, "read the connection")
	}
	if m, ok := l.manifests.get(connectorID, number); ok {
		return m, nil
	}
	return l.Manifest(ctx, connectorID)
}

// Library asks the store for each connector's manifest once, for the length of a list.
type Library struct {
	lookup *Lookup
	known  map[string]*manifest.Manifest
}

// Library opens one, for one list.
func (l *Lookup) Library() *Library {
	return &Library{lookup: l, known: map[string]*manifest.Manifest{}}
}

// Of gives nil for a connector that was never seen.
func (b *Library) Of(ctx context.Context, connectorID string) (*manifest.Manifest, error) {
	if m, ok := b.known[connectorID]; ok {
		return m, nil
	}
	m, err := b.lookup.Manifest(ctx, connectorID)
	if err != nil {
		return nil, err
	}
	b.known[connectorID] = m
	return m, nil
}
