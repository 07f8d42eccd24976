package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ActiveConnections returns the connections that are not revoked, sorted by name.
func ActiveConnections(ctx context.Context, o api.Owner) ([]store.Connection, error) {
	all, err := o.Overview(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]store.Connection, len(all.Connections))
	for i := range all.Connections {
		c := &all.Connections[i]
		out[i] = store.Connection{ID: c.ID, ConnectorID: c.ConnectorID, DisplayName: c.DisplayName,
			Status: store.ConnectionStatus(c.Status), SourceKind: store.SourceKind(c.SourceKind)}
	}
	return out, nil
}

// FindConnection returns a connection by its name, as ConnectionByName does. A revoked connection is found by its id
// only. An empty name means the only connection.
func FindConnection(ctx context.Context, o api.Owner, name, how string) (store.Connection, error) {
	all, err := ActiveConnections(ctx, o)
	if err != nil {
		return store.Connection{}, err
	}
	if name != "" && !slices.ContainsFunc(all, func(c store.Connection) bool {
		return c.ID == name ||
			c.ConnectorID == name
	}) {
		d, err := o.Connection(ctx, name)
		if err == nil {
			return store.Connection{ID: d.ID, ConnectorID: d.ConnectorID, DisplayName: d.DisplayName,
				Status: store.ConnectionStatus(d.Status)}, nil
		}
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeNotFound {
			return store.Connection{}, err
		}
	}
	return ChooseConnection(all, name, how)
}

// ConnectionFilter returns the id of --connection, or "" for every connection.
func (inv *Invocation) ConnectionFilter(ctx context.Context, o api.Owner) (string, error) {
	if inv.Connection == "" {
		return "", nil
	}
	c, err := FindConnection(ctx, o, inv.Connection, ChooseByFlag)
	return c.ID, err
}

// ChooseConnections returns the connection of --connection, or every connection.
func (inv *Invocation) ChooseConnections(ctx context.Context, o api.Owner) ([]store.Connection, error) {
	if inv.Connection != "" {
		c, err := FindConnection(ctx, o, inv.Connection, ChooseByFlag)
		return []store.Connection{c}, err
	}
	all, err := ActiveConnections(ctx, o)
	if err == nil && len(all) == 0 {
		_, err = ChooseConnection(all, "", "")
	}
	return all, err
}

// FindStoredConnection is FindConnection on a store.
func FindStoredConnection(ctx context.Context, st store.Store, name, how string) (store.Connection, error) {
	all, err := st.ListConnections(ctx)
	if err != nil {
		return store.Connection{}, err
	}
	return ChooseConnection(all, name, how)
}

// ChooseConnection is FindStoredConnection on a list.
func ChooseConnection(all []store.Connection, name, how string) (store.Connection, error) {
	if len(all) == 0 {
		return store.Connection{}, &failure.Error{
			Code: "no_connection", Exit: failure.ExitNotFound, Message: "nothing is connected yet",
			Next: "Connect a source: pdpp connect CONNECTOR (pdpp connectors lists them), " +
				"or collect at once: pdpp run CONNECTOR",
		}
	}
	if name == "" {
		return onlyConnection(all, "several connections exist", how)
	}
	return ConnectionByName(all, name, how)
}

// ConnectionByName returns the connection that name identifies: by its id, by its connector or its display name if
// only one has it, or by the beginning of one of the three. If several match, the next step of the error is how and
// their ids.
func ConnectionByName(all []store.Connection, name, how string) (store.Connection, error) {
	if i := slices.IndexFunc(all, func(c store.Connection) bool { return c.ID == name }); i >= 0 {
		return all[i], nil
	}
	if of := ConnectionsOfConnector(all, name); len(of) > 0 {
		return onlyConnection(of, "connector "+name+" has several connections", how)
	}
	typed := strings.ToLower(name)
	begins := func(text string) bool { return strings.HasPrefix(strings.ToLower(text), typed) }
	for _, matches := range []func(store.Connection) bool{
		func(c store.Connection) bool { return strings.EqualFold(c.DisplayName, name) },
		func(c store.Connection) bool { return begins(c.DisplayName) || begins(c.ConnectorID) || begins(c.ID) },
	} {
		found := slices.DeleteFunc(slices.Clone(all), func(c store.Connection) bool { return !matches(c) })
		if len(found) > 0 {
			return onlyConnection(found, fmt.Sprintf("several connections match %q", name), how)
		}
	}
	return store.Connection{}, failure.UnknownName(fmt.Sprintf("there is no connection %q", name), "Connections are: "+
		connectionIDs(all))
}

// codeConnectionRequired means that several connections match.
const codeConnectionRequired = "connection_required"

func onlyConnection(all []store.Connection, why, how string) (store.Connection, error) {
	if len(all) == 1 {
		return all[0], nil
	}
	return store.Connection{}, &failure.Error{
		Code: codeConnectionRequired, Exit: failure.ExitUsage, Message: why, Next: how + connectionIDs(all),
	}
}

// ConnectionsOfConnector returns the connections of one connector.
func ConnectionsOfConnector(all []store.Connection, connector string) []store.Connection {
	return slices.DeleteFunc(slices.Clone(all), func(c store.Connection) bool { return c.ConnectorID != connector })
}

func connectionIDs(all []store.Connection) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.ID
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
