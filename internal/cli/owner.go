package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// withOwner makes a command that works alike over the data of this machine and over
// a remote server.
func (a *app) withOwner(do func(ctx context.Context, o api.Owner, args []string) error) func(*cobra.Command, []string) error {
	return a.ownerCommand(mustExist, do)
}

func (a *app) ownerCommand(n need, do func(ctx context.Context, o api.Owner, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		o, closeOwner, err := a.owner(cmd.Context(), n)
		if err != nil {
			return err
		}
		defer func() {
			if closeErr := closeOwner(); err == nil && closeErr != nil {
				err = fmt.Errorf("close the database: %w", closeErr)
			}
		}()
		return do(cmd.Context(), o, args)
	}
}

// owner is the one way to ask for what an owner can see and do: at the server that is
// set, or at the store of this machine.
func (a *app) owner(ctx context.Context, n need) (api.Owner, func() error, error) {
	r, err := a.server()
	if err != nil {
		return nil, nil, err
	}
	if r != nil {
		return r.owner(), func() error { return nil }, nil
	}
	st, err := a.openStore(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	o, err := a.localOwner(st)
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return o, st.Close, nil
}

// connectionsOf lists the connections that are not revoked, by their names.
func connectionsOf(ctx context.Context, o api.Owner) ([]store.Connection, error) {
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

// pickOwned gives the connection that a name means, as pickConnection does. A revoked
// one has to be named by its id.
func pickOwned(ctx context.Context, o api.Owner, name, how string) (store.Connection, error) {
	all, err := connectionsOf(ctx, o)
	if err != nil {
		return store.Connection{}, err
	}
	if name != "" && !slices.ContainsFunc(all, func(c store.Connection) bool { return c.ID == name || c.ConnectorID == name }) {
		d, err := o.Connection(ctx, name)
		if err == nil {
			return store.Connection{ID: d.ID, ConnectorID: d.ConnectorID, DisplayName: d.DisplayName, Status: store.ConnectionStatus(d.Status)}, nil
		}
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeNotFound {
			return store.Connection{}, err
		}
	}
	return pickAmong(all, name, how)
}

// ownedFilter is pickOwned for commands that show every connection by default.
func (a *app) ownedFilter(ctx context.Context, o api.Owner) (string, error) {
	if a.connection == "" {
		return "", nil
	}
	c, err := pickOwned(ctx, o, a.connection, byFlag)
	return c.ID, err
}
