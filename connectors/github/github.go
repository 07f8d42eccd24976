// Package github collects what a person has on GitHub: profile, repositories,
// stars, issues, pull requests with their details, gists and events.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	github.go       open: environment in, client and collectors out
//	api.go, link.go one request, its condition, its next page
//	profile.go      user and user_stats
//	inventory.go    lists whose absences are deletions: repositories, starred, gists
//	list.go         issues and events
//	search.go       pull requests and their details
//	map*.go         how one thing of GitHub's becomes one record
//	classify.go     what an answer means
package github

import (
	"context"
	_ "embed"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the GitHub connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

const (
	publicAPI  = "https://api.github.com"
	apiVersion = "2022-11-28"
)

// open runs once per run. Short lists come first; the details of pull requests,
// one request each, come last.
func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	base := or(s.Env("PDPP_GITHUB_BASE_URL"), publicAPI)
	root, err := rootOf(base)
	if err != nil {
		return nil, err
	}
	if err := s.SharedQuota(ctx,
		connectorkit.SharedQuota{Account: base + " " + s.Env("GITHUB_PERSONAL_ACCESS_TOKEN")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{
		BaseURL: base, Classify: new(judge).classify,
		Header: headers(s.Env("GITHUB_PERSONAL_ACCESS_TOKEN"), or(s.Env("PDPP_GITHUB_API_VERSION"), apiVersion)),
	}, unhurried)
	if err != nil {
		return nil, err
	}
	a := &api{client: client, root: root}
	p := &profile{api: a, counted: s.Counted}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "user", Page: p.user},
		connectorkit.PagedStream{Stream: "user_stats", Page: p.stats},
		repositories(a, p),
		starred(a),
		gists(a, p),
		connectorkit.PagedStream{Stream: "events", Page: (&events{api: a, profile: p}).page},
		connectorkit.PagedStream{Stream: "issues", Page: (&issues{api: a}).page},
		connectorkit.ListDetail{
			List: "pull_requests", Detail: "pull_request_details",
			ListPage: (&search{api: a, profile: p, counted: s.Counted}).page, Fetch: a.pullRequest,
		},
	}, nil
}

// unhurried keeps below the primary limit of 5000 requests per hour, which every
// other program of the same person draws from too.
func unhurried(c *governor.Config) { c.Ceiling = time.Second }

func or(value, standard string) string {
	if value == "" {
		return standard
	}
	return value
}
