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
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// longestProblem limits the length of a connector's problem; pdpp-connectors validate prints all of it.
const longestProblem = 1000

// Connectors lists what is installed, by display name, and after it what cannot be used,
// with why.
func (s *Service) Connectors(ctx context.Context) ([]api.Connector, error) {
	all, err := s.Config.Connectors.List(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the connectors")
	}
	files, err := s.Config.Connectors.SourceFiles()
	if err != nil {
		return nil, faults.OwnerError(err, "list the source files")
	}
	browserless, err := s.browserless(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the workers")
	}
	out := []api.Connector{}
	for _, e := range all {
		if problem := e.Problem(); problem != "" {
			out = append(out, api.Connector{ID: e.Name, DisplayName: e.Name, Streams: []api.StreamLabel{},
				Problem: text.Cut(text.Line(problem), longestProblem), SourceFile: slices.Contains(files, e.Name)})
			continue
		}
		c := declaration.DescribeConnector(e.Connector.Name, e.Connector.Manifest)
		if c.Lacks, err = s.missingRequirement(ctx, &c, e.Connector, browserless); err != nil {
			return nil, faults.OwnerError(err, "list the connectors")
		}
		if c.Foreign, err = s.foreignConnector(ctx, e.Connector); err != nil {
			return nil, faults.OwnerError(err, "list the connectors")
		}
		c.SourceFile = e.Connector.Declared
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b api.Connector) int {
		return cmp.Or(cmp.Compare(min(len(a.Problem), 1), min(len(b.Problem), 1)),
			strings.Compare(strings.ToLower(a.DisplayName), strings.ToLower(b.DisplayName)), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// missingRequirement returns what keeps a connector from running here, with the fix; empty where nothing
// does.
func (s *Service) missingRequirement(ctx context.Context, c *api.Connector, found catalog.Connector,
	browserless bool) (string,
	error) {
	if lack := found.Unstartable(); lack != nil {
		return text.Cut(text.Line(lack.Sentence()), longestProblem), nil
	}
	if c.SignsIn && browserless {
		return "No worker of this server has a browser, which the sign-in needs. Install Chromium where one runs (sudo apt " +
			"install chromium) and start it again.", nil
	}
	if c.Consent == nil {
		return "", nil
	}
	_, err := s.tokenKeeper().App(ctx, providerauth.SignInSource{ConnectorID: c.ID, Manifest: found.Manifest})
	var problem *usererr.Error
	if errors.As(err, &problem) && problem.Code == providerauth.CodeNoApp {
		return problem.Message + " " + problem.Next, nil
	}
	return "", nil // other errors are reported where the registration is used
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

// foreignConnector returns what a connector that is not built in gets access to. It returns nil for a built-in
// connector, and if the connector's program cannot be read.
func (s *Service) foreignConnector(ctx context.Context, found catalog.Connector) (*api.Foreign, error) {
	if found.Builtin {
		return nil, nil
	}
	demand, err := found.Demand()
	if err != nil {
		return nil, nil // a run reports the error
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
