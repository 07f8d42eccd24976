// Package example is a complete connector for Lumen Notebook, an invented
// service that providersim simulates. It is meant to be read and copied.
//
// A connector has four parts, one file each:
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	example.go      Open: environment in, client and collectors out
//	list.go         which requests give which pages
//	map.go          how one thing of the provider becomes one record
//	classify.go     what an answer of the provider means
//
// Everything else (protocol, slices, pace and retries, gaps, caps, scope,
// validation, exit) is done by connectorkit.
package example

import (
	"context"
	_ "embed"
	"net/http"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the example connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

// open runs once per run, after the kit made sure that every required variable
// is there. The order of the collectors is the order of collection: put first
// what is cheap and complete, last what is long.
//
// The client finds out by itself how fast Lumen may be asked, and remembers it. Lumen counts
// what is asked with a token, so that all runs with this one share its allowance. Where its answers
// take longer than its limit asks for, up to four threads are fetched at once.
func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: s.Env("PDPP_EXAMPLE_BASE_URL") + " " +
		s.Env("PDPP_EXAMPLE_TOKEN")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{
		BaseURL:  s.Env("PDPP_EXAMPLE_BASE_URL"),
		Header:   http.Header{"Authorization": {"Bearer " + s.Env("PDPP_EXAMPLE_TOKEN")}},
		Classify: classify,
	}, func(c *governor.Config) { c.Lanes = 4 })
	if err != nil {
		return nil, err
	}
	l := &lumen{client}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "events", Page: l.events},
		connectorkit.PagedStream{Stream: "notes", Page: l.notes},
		connectorkit.ListDetail{List: "threads", Detail: "thread_messages", ListPage: l.threads, Fetch: l.thread,
			AtOnce: true},
	}, nil
}
