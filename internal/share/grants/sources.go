package grants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// declared is what the newest manifest says of a stream. The zero value, with nothing
// declared, stands for a stream whose records are still there.
type declared struct {
	manifest.Stream
	fields  []string // names of the schema's properties, sorted
	refresh *manifest.RefreshPolicy
}

// source is a connector as its newest manifest has it.
type source struct {
	generation int64
	manifest   *manifest.Manifest
	streams    map[string]declared
}

// sources remembers manifests that were read, by connector.
type sources struct {
	kept  store.Connections
	mu    sync.Mutex
	known map[string]*source
}

// of gives the connector's source; store.ErrNotFound when it never declared anything.
func (s *sources) of(ctx context.Context, connectorID string) (*source, error) {
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
	known = &source{generation: generation, manifest: m, streams: map[string]declared{}}
	for _, stream := range m.Streams {
		known.streams[stream.Name] = declared{Stream: stream, fields: propertiesOf(stream.Schema), refresh: m.RefreshPolicy()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]*source{}
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

// declared finds a stream of a connection; store.ErrNotFound when there is none.
func (b *Service) declared(ctx context.Context, connectionID, stream string) (declared, error) {
	c, err := b.store.Connection(ctx, connectionID)
	if err != nil {
		return declared{}, missing("find connection", err)
	}
	s, err := b.sources.of(ctx, c.ConnectorID)
	if err != nil {
		return declared{}, missing("find manifest", err)
	}
	d, ok := s.streams[stream]
	if !ok {
		return declared{}, store.ErrNotFound
	}
	return d, nil
}

func missing(doing string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return store.ErrNotFound
	}
	return fmt.Errorf("%s: %w", doing, err)
}
