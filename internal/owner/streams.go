package owner

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
	"pdpp/manifest"
)

// Streams lists the streams that have been collected, with what their connectors
// declare of them.
func (s *Service) Streams(ctx context.Context, connectionID string) ([]ownerapi.Stream, error) {
	of := map[string]store.Connection{}
	if connectionID != "" {
		conn, err := s.connection(ctx, connectionID)
		if err != nil {
			return nil, err
		}
		of[conn.ID] = conn
	} else {
		all, err := s.Store.ListConnections(ctx)
		if err != nil {
			return nil, told(err, "list the connections")
		}
		for _, conn := range all {
			of[conn.ID] = conn
		}
	}
	found, err := s.Store.Streams(ctx, connectionID)
	if err != nil {
		return nil, told(err, "list the streams")
	}
	declared := s.library()
	out := make([]ownerapi.Stream, len(found))
	for i, info := range found {
		conn := of[info.ConnectionID]
		m, err := declared.of(ctx, conn.ConnectorID)
		if err != nil {
			return nil, err
		}
		out[i] = showStream(info, conn, stream(m, info.Name))
	}
	return out, nil
}

func showStream(info store.StreamInfo, conn store.Connection, declared *manifest.Stream) ownerapi.Stream {
	out := ownerapi.Stream{
		ConnectionID: info.ConnectionID, ConnectionName: conn.DisplayName, Name: info.Name, Label: labelOf(declared, info.Name),
		Records: info.Records, UpdatedAt: info.ChangedAt, Search: []string{}, Filter: []string{}, Fields: []string{},
	}
	if declared == nil {
		return out
	}
	out.Fields = properties(jsontext.Value(declared.Schema))
	if q := declared.Query; q != nil {
		out.Search, out.Filter = append(out.Search, q.Search...), append(out.Filter, q.Filter...)
	}
	return out
}

// declaredStream is what the connector of a connection declares of a stream, also of one
// that has no records yet. Declared is nil for a stream that it declares no more.
func (s *Service) declaredStream(ctx context.Context, connectionID, name string) (*manifest.Stream, error) {
	conn, err := s.connection(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	m, err := s.manifest(ctx, conn.ConnectorID)
	if err != nil {
		return nil, err
	}
	if declared := stream(m, name); declared != nil {
		return declared, nil
	}
	found, err := s.Store.Streams(ctx, connectionID)
	if err != nil {
		return nil, told(err, "list the streams")
	}
	for _, info := range found {
		if info.Name == name {
			return nil, nil
		}
	}
	return nil, unknownStream(name)
}
