package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"pdpp/internal/collect/catalog"
	"pdpp/internal/collect/launch"
	"pdpp/internal/keep/store"
	"pdpp/internal/owner/api"
	"pdpp/internal/owner/service/declaration"
	"pdpp/internal/owner/service/faults"
)

// Connectors lists what is installed, by display name. One that is broken is left
// out: nothing can be connected with it, and pdpp doctor names it.
func (s *Service) Connectors(ctx context.Context) ([]api.Connector, error) {
	names, err := s.Config.Connectors.Names(ctx)
	if err != nil {
		return nil, faults.Error(err, "list the connectors")
	}
	out := []api.Connector{}
	for _, name := range names {
		found, err := s.find.Connectors.Find(ctx, name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue
		}
		c := declaration.Describe(found.Name, found.Manifest)
		if c.Foreign, err = s.foreign(ctx, found); err != nil {
			return nil, faults.Error(err, "list the connectors")
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b api.Connector) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.DisplayName), strings.ToLower(b.DisplayName)), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// foreign is what a connector that is not built in gets; nil for a built-in one, and for one
// whose program cannot be read.
func (s *Service) foreign(ctx context.Context, found catalog.Connector) (*api.Foreign, error) {
	if found.Builtin {
		return nil, nil
	}
	demand, err := found.Demand()
	if err != nil {
		return nil, nil // a run says so
	}
	why, err := launch.Unconfirmed(ctx, s.Store, found)
	if err != nil {
		return nil, err
	}
	_, err = s.Store.ConfirmedConnector(ctx, found.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	return &api.Foreign{Executable: demand.Executable, Variables: demand.Variables, Paths: demand.Paths,
		Confirmed: why == "", Changed: why != "" && err == nil}, nil
}
