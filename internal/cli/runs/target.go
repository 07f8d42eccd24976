package runs

import (
	"context"
	"fmt"
	"slices"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/connectors"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// findOrAddConnection returns the connection for pdpp run NAME: a connection by id, or the connection of a connector,
// which is created if there is none.
func findOrAddConnection(ctx context.Context, inv *command.Invocation, st store.Store, installed catalog.Catalog,
	name string) (store.Connection, error) {
	all, err := st.ListConnections(ctx)
	if err != nil {
		return store.Connection{}, err
	}
	if inv.Connection != "" {
		c, err := command.ConnectionByName(all, inv.Connection, command.ChooseByFlag)
		if err == nil && c.ConnectorID != name && c.ID != name {
			err = failure.UsageError(fmt.Sprintf("connection %s belongs to connector %s, not to %s", c.ID, c.ConnectorID, name),
				"Run it by its id only: pdpp run "+c.ID)
		}
		return c, err
	}
	if slices.ContainsFunc(all, func(c store.Connection) bool { return c.ID == name }) ||
		len(command.ConnectionsOfConnector(all, name)) > 0 {
		return command.ConnectionByName(all, name, command.ChooseByFlag)
	}
	found, err := command.FindConnector(ctx, installed, name)
	if err != nil {
		return store.Connection{}, err
	}
	return connectors.AddConnection(ctx, inv, st, found, found.Manifest.DisplayName)
}
