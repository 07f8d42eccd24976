package connectors

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// AddConnection creates a connection. The first connection of a foreign connector prints what the connector can access,
// and confirms the connector.
func AddConnection(ctx context.Context, inv *command.Invocation, st store.Store, found catalog.Connector,
	displayName string) (store.Connection, error) {
	_, err := st.ConfirmedConnector(ctx, found.Name)
	first := errors.Is(err, store.ErrNotFound) && !found.Builtin
	if first && !inv.JSON {
		demand, err := found.Demand()
		if err != nil {
			return store.Connection{}, err
		}
		PrintRequirements(inv, found.Name, service.Foreign(ctx, found, demand))
	}
	c, err := service.NewConnection(ctx, st, found, displayName, store.ConnectionActive, inv.Env.Now())
	if err != nil {
		return c, err
	}
	trail := inv.LocalTrail(st)
	if first {
		trail.Record(ctx, audit.Entry{Kind: audit.ConnectorConfirm, Object: found.Name})
	}
	trail.Record(ctx, audit.Entry{Kind: audit.ConnectionAdd, Object: c.ID, ObjectName: c.DisplayName})
	return c, nil
}

// StreamNames returns the names of the streams of a manifest.
func StreamNames(m *manifest.Manifest) []string {
	names := make([]string, len(m.Streams))
	for i := range m.Streams {
		names[i] = m.Streams[i].Name
	}
	return names
}
