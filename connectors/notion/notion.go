// Package notion collects a person's pages from Notion, with their content, and the databases.
//
//	manifest.json   what it declares: streams, schemas, the form for the token
//	notion.go       newCollectors: environment in, client and collectors out
//	api.go          one request, one page of a search
//	merge.go        one list of pages out of the search, the rows of data sources, and pages known from other pages
//	links.go        pages and databases that other pages hold and that no list shows
//	pages.go        the content of one page
//	sources.go      data sources, each asked for when the search lacks it
//	databases.go    databases, one request each
//	property.go     the values of a row
//	map.go          how one thing of Notion's becomes one record
//	classify.go     what an answer means
package notion

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Notion connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, newCollectors)
}

const (
	defaultBaseURL = "https://api.notion.com"
	// apiVersion is the one in which data sources came. Older ones fail on a database that has several.
	apiVersion = "2025-09-03"
	// fullScanInterval is how often the whole search is read for what left it without a word, and for what it shows late.
	fullScanInterval = 24 * time.Hour
)

var errInvalidFullScan = errors.New("PDPP_NOTION_CENSUS must be a time such as 24h")

// newCollectors runs once per run. Data sources, a few, come before the pages, which take a request for each hundred
// blocks, and name databases that search does not show.
func newCollectors(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	every := fullScanInterval
	if text := s.Env("PDPP_NOTION_CENSUS"); text != "" {
		var err error
		if every, err = time.ParseDuration(text); err != nil || every <= 0 {
			return nil, connectorkit.Fail(connectorkit.Malformed, errInvalidFullScan)
		}
	}
	if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: s.Env("NOTION_API_TOKEN")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{
		BaseURL: cmp.Or(s.Env("PDPP_NOTION_BASE_URL"), defaultBaseURL), Classify: classifyResponse,
		Header: http.Header{
			"Authorization":  {"Bearer " + s.Env("NOTION_API_TOKEN")},
			"Notion-Version": {cmp.Or(s.Env("PDPP_NOTION_API_VERSION"), apiVersion)},
			"Content-Type":   {"application/json"},
		},
	}, configurePace)
	if err != nil {
		return nil, err
	}
	a := &apiClient{client: client, links: parseChildLinks(s.Stored("databases")["links"])}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "data_sources", Page: (&dataSources{apiClient: a}).fetchNextPage},
		connectorkit.ListDetail{
			List: "pages", Detail: "page_contents", ListPage: a.fetchPageList, Fetch: a.fetchPageContent,
			GoneWithDetail: true, Paired: true, Census: every, AtOnce: true,
		},
		connectorkit.PagedStream{Stream: "databases", Page: (&databaseCollector{apiClient: a}).fetchNextPage},
	}, nil
}

// configurePace keeps below the three requests a second that Notion allows on average. Long pages take their time: up
// to four are read at once, if that is what holds the run up.
func configurePace(c *governor.Config) { c.Ceiling, c.Lanes = 400*time.Millisecond, 4 }
