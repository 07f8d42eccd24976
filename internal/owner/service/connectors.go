package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
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
	browserless, err := s.browserless(ctx)
	if err != nil {
		return nil, faults.Error(err, "list the workers")
	}
	out := []api.Connector{}
	for _, e := range all {
		if problem := e.Problem(); problem != "" {
			out = append(out, api.Connector{ID: e.Name, DisplayName: e.Name, Streams: []api.StreamLabel{}, Problem: text.Cut(text.Line(problem), longestProblem)})
			continue
		}
		c := declaration.Describe(e.Connector.Name, e.Connector.Manifest)
		if c.Lacks, err = s.lacking(ctx, &c, e.Connector, browserless); err != nil {
			return nil, faults.Error(err, "list the connectors")
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

// lacking returns what keeps a connector from running here, with the fix; empty where nothing
// does.
func (s *Service) lacking(ctx context.Context, c *api.Connector, found catalog.Connector, browserless bool) (string, error) {
	if lack := found.Unstartable(); lack != nil {
		return text.Cut(text.Line(lack.Sentence()), longestProblem), nil
	}
	if c.SignsIn && browserless {
		return "No worker of this server has a browser, which the sign-in needs. Install Chromium where one runs (sudo apt install chromium) and start it again.", nil
	}
	if c.Consent == nil {
		return "", nil
	}
	_, err := s.tokens().App(ctx, providerauth.Source{ConnectorID: c.ID, Manifest: found.Manifest})
	var told *fault.Fault
	if errors.As(err, &told) && told.Code == providerauth.CodeNoApp {
		return told.Message + " " + told.Next, nil
	}
	return "", nil // one that cannot be read is told where it is used
}

// browserless reports whether workers are there and none of them has a browser.
func (s *Service) browserless(ctx context.Context) (bool, error) {
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return false, err
	}
	now, alive := s.Now(), false
	for _, w := range workers {
		if !scheduler.Alive(w, now) {
			continue
		}
		if slices.Contains(w.Capabilities, string(scheduler.Browser)) {
			return false, nil
		}
		alive = true
	}
	return alive, nil
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
	lack, err := launch.UnconfirmedDemand(ctx, s.Store, found.Name, demand)
	if err != nil {
		return nil, err
	}
	_, err = s.Store.ConfirmedConnector(ctx, found.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	f := Foreign(ctx, found, demand)
	f.Confirmed, f.Changed = lack == nil, lack != nil && err == nil
	return &f, nil
}

// Foreign returns what a connector demands, and what it reaches over the network here.
func Foreign(ctx context.Context, found catalog.Connector, d catalog.Demand) api.Foreign {
	network, _ := found.Network(ctx)
	return api.Foreign{Network: network, Executable: d.Executable, Variables: d.Variables, Paths: d.Paths,
		Endpoints: d.Endpoints, Hosts: d.Hosts, Starts: d.Starts, Scripts: d.Scripts}
}
