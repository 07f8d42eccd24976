package owner

import (
	"context"
	"errors"
	"fmt"

	"pdpp/internal/evidence"
	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
	"pdpp/manifest"
)

// connection gives a connection whatever its standing.
func (s *Service) connection(ctx context.Context, id string) (store.Connection, error) {
	c, err := s.Store.Connection(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return c, noConnection(err)
	}
	return c, told(err, "read the connection")
}

// living gives a connection that was not ended.
func (s *Service) living(ctx context.Context, id string) (store.Connection, error) {
	c, err := s.connection(ctx, id)
	if err == nil && c.Status == store.ConnectionRevoked {
		return c, revoked()
	}
	return c, err
}

// evidenceOf gives the facts of one connection.
func (s *Service) evidenceOf(ctx context.Context, id string) (evidence.Evidence, error) {
	found, err := s.Reader.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
	if err != nil {
		return evidence.Evidence{}, told(err, "read evidence")
	}
	if len(found) == 0 {
		return evidence.Evidence{}, noConnection(store.ErrNotFound)
	}
	return found[0], nil
}

// declared is what a connector declares: the installed one, or as it was last seen
// where it is installed on another machine.
func (s *Service) declared(ctx context.Context, connectorID string) (*manifest.Manifest, error) {
	found, err := s.finder.Find(ctx, connectorID)
	if err == nil {
		return found.Manifest, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	kept, keptErr := s.manifest(ctx, connectorID)
	if keptErr != nil {
		return nil, keptErr
	}
	if kept == nil {
		return nil, notInstalled(err)
	}
	return kept, nil
}

// names are the display names of all connections, by id.
func (s *Service) names(ctx context.Context) (map[string]string, error) {
	all, err := s.Store.ListConnections(ctx)
	if err != nil {
		return nil, told(err, "list the connections")
	}
	out := make(map[string]string, len(all))
	for i := range all {
		out[all[i].ID] = all[i].DisplayName
	}
	return out, nil
}

// stream gives what the manifest declares of a stream; nil when it declares none.
func stream(m *manifest.Manifest, name string) *manifest.Stream {
	if m == nil {
		return nil
	}
	s, _ := m.Stream(name)
	return s
}

// unknownStream says that the connection has no such stream.
func unknownStream(name string) *ownerapi.Error {
	e := ownerapi.NotFound(fmt.Sprintf("The connection has no stream %.80q.", name), "Choose one of its streams.")
	e.Param = "stream"
	return e
}
