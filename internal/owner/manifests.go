package owner

import (
	"context"
	"errors"
	"sync"

	"pdpp/internal/store"
	"pdpp/manifest"
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

// manifest is what a connector declared when it was last seen; nil when it never was, or
// when what is kept is not readable any more.
func (s *Service) manifest(ctx context.Context, connectorID string) (*manifest.Manifest, error) {
	body, number, err := s.Store.Manifest(ctx, connectorID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, told(err, "read the manifest")
	}
	if m, ok := s.manifests.get(connectorID, number); ok {
		return m, nil
	}
	m, err := manifest.Parse(body)
	if err != nil {
		m = nil
	}
	s.manifests.put(connectorID, generation{number, m})
	return m, nil
}

// library asks the store for each connector's manifest once, for the length of a list.
type library struct {
	service *Service
	known   map[string]*manifest.Manifest
}

func (s *Service) library() *library {
	return &library{service: s, known: map[string]*manifest.Manifest{}}
}

// of gives nil for a connector that was never seen.
func (l *library) of(ctx context.Context, connectorID string) (*manifest.Manifest, error) {
	if m, ok := l.known[connectorID]; ok {
		return m, nil
	}
	m, err := l.service.manifest(ctx, connectorID)
	if err != nil {
		return nil, err
	}
	l.known[connectorID] = m
	return m, nil
}
