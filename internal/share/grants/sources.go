package grants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// declaredStream is a stream's declaration in the newest manifest. The zero value is an undeclared stream that still
// has records.
type declaredStream struct {
	manifest.Stream
	fields  []string // names of the schema's properties, sorted
	refresh *manifest.RefreshPolicy
}

// manifestSource is a connector as its newest manifest has it.
type manifestSource struct {
	generation int64
	manifest   *manifest.Manifest
	streams    map[string]declaredStream
}

// sources remembers manifests that were read, by connector.
type sources struct {
	kept  store.Connections
	mu    sync.Mutex
	known map[string]*manifestSource
}

// sourceOf returns the connector's source; store.ErrNotFound if it never declared anything.
func (s *sources) sourceOf(ctx context.Context, connectorID string) (*manifestSource, error) {
	body, generation, err := s.kept.Manifest(ctx, connectorID)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	known := s.known[connectorID]
	s.mu.Unlock()
	if known != nil && known.generation == generation {
		return known, nil
	}
	m, err := manifest.Parse(body)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	known = &manifestSource{generation: generation, manifest: m, streams: map[string]declaredStream{}}
	for _, stream := range m.Streams {
		known.streams[stream.Name] = declaredStream{Stream: stream, fields: propertiesOf(stream.Schema),
			refresh: m.RefreshPolicy()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]*manifestSource{}
	}
	s.known[connectorID] = known
	return known, nil
}

func propertiesOf(schema json.RawMessage) []string {
	var outline map[string]json.RawMessage
	var properties map[string]json.RawMessage
	if json.Unmarshal(schema, &outline) != nil || json.Unmarshal(outline["properties"], &properties) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(properties))
}

// declaredStream finds a stream of a connection; store.ErrNotFound when there is none.
func (b *Service) declared(ctx context.Context, connectionID, stream string) (declaredStream, error) {
	c, err := b.store.Connection(ctx, connectionID)
	if err != nil {
		return declaredStream{}, missing("find connection", err)
	}
	s, err := b.sources.sourceOf(ctx, c.ConnectorID)
	if err != nil {
		return declaredStream{}, missing("find manifest", err)
	}
	d, ok := s.streams[stream]
	if !ok {
		return declaredStream{}, store.ErrNotFound
	}
	return d, nil
}

func missing(doing string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return store.ErrNotFound
	}
	return fmt.Errorf("%s: %w", doing, err)
}
