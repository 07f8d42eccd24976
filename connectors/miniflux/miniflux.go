// Package miniflux collects a person's feed reader: categories, feeds and entries, with what was
// read and what was starred.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	miniflux.go     open: environment in, client and collectors out
//	entries.go      what is new and what changed
//	census.go       what is gone, found by counting
//	map.go          how a thing of Miniflux's becomes one record
//	classify.go     what an answer means
package miniflux

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Miniflux connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, open) }

// maxBody bounds one answer: a hundred articles of the sizes that feeds have.
const maxBody = 64 << 20

func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	address := strings.TrimSpace(s.Env("MINIFLUX_URL"))
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	server, err := url.Parse(address)
	if err != nil || server.Host == "" || server.User != nil || server.Scheme != "https" && server.Scheme != "http" {
		return nil, connectorkit.End("miniflux_address_unreadable",
			"the address of the server cannot be read: enter it as in https://reader.example.org and connect again", protocol.ManualActionRequired, false)
	}
	if err := s.SharedQuota(ctx,
		connectorkit.SharedQuota{Account: server.Host + " " + s.Env("MINIFLUX_API_KEY")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{
		BaseURL: server.Scheme + "://" + server.Host + strings.TrimSuffix(strings.TrimSuffix(server.Path, "/"), "/v1"), Classify: classify, MaxBody: maxBody,
		Header: http.Header{"X-Auth-Token": {strings.TrimSpace(s.Env("MINIFLUX_API_KEY"))}, "User-Agent": {"pdpp-miniflux-connector/1.0"}},
	})
	if err != nil {
		return nil, err
	}
	r := &reader{client: client}
	return []connectorkit.Collector{
		r.whole("categories", "/v1/categories", category),
		r.whole("feeds", "/v1/feeds", feed),
		connectorkit.PagedStream{Stream: "entries", Page: (&entries{reader: r}).page},
	}, nil
}

// reader is a person's account on a server.
type reader struct{ client *governhttp.Client }

// get asks for one thing and reads the answer.
func (r *reader) get(ctx context.Context, path string, query url.Values, into any) (*governhttp.Response, error) {
	resp, err := r.client.Get(ctx, path, query)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(resp.Body, into) != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	return resp, nil
}

// whole is a list that a server gives at once; absence is deletion. Its version is a digest of what
// is collected of it: the rest changes whenever a feed is asked.
func (r *reader) whole(stream, path string, read func(raw) (key string, record any, err error)) connectorkit.FullList {
	return connectorkit.FullList{Stream: stream,
		Page: func(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
			var all *[]raw
			if _, err := r.get(ctx, path, nil, &all); err != nil {
				return connectorkit.InventoryPage{}, err
			}
			if all == nil {
				return connectorkit.InventoryPage{}, connectorkit.Fail(connectorkit.Malformed, errForm)
			}
			page, digest := connectorkit.InventoryPage{}, sha256.New()
			for _, one := range *all {
				key, record, err := read(one)
				thing := connectorkit.ListItem{Key: key, Record: connectorkit.Upsert(record)}
				if err == nil {
					err = json.MarshalWrite(digest, record)
				}
				if err != nil {
					thing = connectorkit.ListItem{Record: connectorkit.Unreadable("", err)}
				}
				page.Things = append(page.Things, thing)
			}
			page.Version = hex.EncodeToString(digest.Sum(nil)[:12])
			page.Unchanged = page.Version == v.Version
			return page, nil
		}}
}
