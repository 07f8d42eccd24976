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
	"pdpp/internal/ops/text"
	"pdpp/internal/owner/api"
	"pdpp/internal/owner/service/declaration"
	"pdpp/internal/owner/service/faults"
)

// longestProblem bounds what is said of one connector; pdpp-connectors validate says all.
const longestProblem = 1000

// Connectors lists what is installed, by display name, and after it what cannot be used,
// with why.
func (s *Service) Connectors(ctx context.Context) ([]api.Connector, error) {
	all, err := s.Config.Connectors.List(ctx)
	if err != nil {
		return nil, faults.Error(err, "list the connectors")
	}
	out := []api.Connector{}
	for _, e := range all {
		if problem := e.Problem(); problem != "" {
			out = append(out, api.Connector{ID: e.Name, DisplayName: e.Name, Streams: []api.StreamLabel{}, Problem: text.Cut(text.Line(problem), longestProblem)})
			continue
		}
		c := declaration.Describe(e.Connector.Name, e.Connector.Manifest)
		if lack := e.Connector.Unstartable(); lack != nil {
			c.Lacks = text.Cut(text.Line(lack.Sentence()), longestProblem)
		}
		if c.Foreign, err = s.foreign(ctx, e.Connector); err != nil {
			return nil, faults.Error(err, "list the connectors")
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b api.Connector) int {
		return cmp.Or(cmp.Compare(min(len(a.Problem), 1), min(len(b.Problem), 1)), strings.Compare(strings.ToLower(a.DisplayName), strings.ToLower(b.DisplayName)), strings.Compare(a.ID, b.ID))
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
	f := Foreign(demand)
	f.Confirmed, f.Changed = why == "", why != "" && err == nil
	return &f, nil
}

// Foreign tells what a connector demands.
func Foreign(d catalog.Demand) api.Foreign {
	return api.Foreign{Executable: d.Executable, Variables: d.Variables, Paths: d.Paths, Starts: d.Starts, Scripts: d.Scripts}
}
