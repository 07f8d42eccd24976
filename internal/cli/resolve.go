package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/service"
)

// byFlag tells how most commands take the name of a connection.
const byFlag = "Choose one with --connection: "

// pickConnection gives the connection of a name: its id, or its connector when that has
// only one. Without a name it is the only connection there is. How tells the owner which
// way to give a name, when it fits several.
func pickConnection(ctx context.Context, st store.Store, name, how string) (store.Connection, error) {
	all, err := st.ListConnections(ctx)
	if err != nil {
		return store.Connection{}, err
	}
	return pickAmong(all, name, how)
}

func pickAmong(all []store.Connection, name, how string) (store.Connection, error) {
	if len(all) == 0 {
		return store.Connection{}, &Error{
			Code: "no_connection", Exit: ExitNotFound, Message: "nothing is connected yet",
			Next: "Connect a source: pdpp connect CONNECTOR (pdpp connectors lists them), or collect at once: pdpp run CONNECTOR",
		}
	}
	if name == "" {
		return only(all, "several connections exist", how)
	}
	return named(all, name, how)
}

func named(all []store.Connection, name, how string) (store.Connection, error) {
	if i := slices.IndexFunc(all, func(c store.Connection) bool { return c.ID == name }); i >= 0 {
		return all[i], nil
	}
	if of := ofConnector(all, name); len(of) > 0 {
		return only(of, "connector "+name+" has several connections", how)
	}
	return store.Connection{}, notFound(fmt.Sprintf("there is no connection %q", name), "Connections are: "+ids(all))
}

func only(all []store.Connection, why, how string) (store.Connection, error) {
	if len(all) == 1 {
		return all[0], nil
	}
	return store.Connection{}, &Error{
		Code: "connection_required", Exit: ExitUsage, Message: why, Next: how + ids(all),
	}
}

func ofConnector(all []store.Connection, connector string) []store.Connection {
	return slices.DeleteFunc(slices.Clone(all), func(c store.Connection) bool { return c.ConnectorID != connector })
}

func ids(all []store.Connection) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.ID
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// target finds what `pdpp run NAME` means: a connection by id, or the
// connection of a connector, which is made when there is none.
func (a *app) target(ctx context.Context, st store.Store, connectors catalog.Catalog, name string) (store.Connection, error) {
	all, err := st.ListConnections(ctx)
	if err != nil {
		return store.Connection{}, err
	}
	if a.connection != "" {
		c, err := named(all, a.connection, byFlag)
		if err == nil && c.ConnectorID != name && c.ID != name {
			err = usage(fmt.Sprintf("connection %s belongs to connector %s, not to %s", c.ID, c.ConnectorID, name), "Run it by its id alone: pdpp run "+c.ID)
		}
		return c, err
	}
	if slices.ContainsFunc(all, func(c store.Connection) bool { return c.ID == name }) || len(ofConnector(all, name)) > 0 {
		return named(all, name, byFlag)
	}
	found, err := findConnector(ctx, connectors, name)
	if err != nil {
		return store.Connection{}, err
	}
	return a.connect(ctx, st, found, found.Manifest.DisplayName)
}

// findConnector finds a connector. One that is installed and broken is the
// fault of its files, not of the command.
func findConnector(ctx context.Context, connectors catalog.Catalog, name string) (catalog.Connector, error) {
	found, err := connectors.Find(ctx, name)
	if err == nil || ctx.Err() != nil || errors.Is(err, catalog.ErrUnknownConnector) {
		return found, err
	}
	return found, &Error{Code: codeUnusable, Exit: ExitFailed, Err: err, Message: safe(err.Error()), Next: nextUnusable}
}

// What every command says of a connector that is installed and cannot be used.
const (
	codeUnusable = "connector_unusable"
	nextUnusable = "Correct the connector (pdpp-connectors validate DIR tells more) or remove it from the connectors folder."
)

// connect makes a connection. What its connector declares is recorded with it; what a foreign
// one gets is shown before it is named for the first time, which confirms it.
func (a *app) connect(ctx context.Context, st store.Store, found catalog.Connector, displayName string) (store.Connection, error) {
	_, err := st.ConfirmedConnector(ctx, found.Name)
	first := errors.Is(err, store.ErrNotFound) && !found.Builtin
	if first && !a.json {
		demand, err := found.Demand()
		if err != nil {
			return store.Connection{}, err
		}
		a.printDemand(found.Name, service.Foreign(ctx, found, demand))
	}
	c, err := service.NewConnection(ctx, st, found, displayName, store.ConnectionActive, a.env.Now())
	if err != nil {
		return c, err
	}
	trail := a.localTrail(st)
	if first {
		trail.Record(ctx, audit.Entry{Kind: audit.ConnectorConfirm, Object: found.Name})
	}
	trail.Record(ctx, audit.Entry{Kind: audit.ConnectionAdd, Object: c.ID, ObjectName: c.DisplayName})
	return c, nil
}
