// Package gitea collects what a person has on a server of Gitea or Forgejo: profile, repositories,
// stars, issues, pull requests and comments.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	gitea.go        open: environment in, client and collectors out
//	api.go          one request, one page of a list
//	inventory.go    repositories and stars
//	walk.go         issues, pull requests and comments, repository by repository
//	elsewhere.go    what the person opened in other people's repositories
//	map.go          how one thing of Gitea's becomes one record
//	classify.go     what an answer means
package gitea

import (
	"context"
	_ "embed"
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of Gitea and Forgejo.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, open) }

func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	address := strings.TrimSpace(s.Env("GITEA_URL"))
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	server, err := url.Parse(address)
	if err != nil || server.Host == "" || server.User != nil || server.Scheme != "https" && server.Scheme != "http" {
		return nil, connectorkit.End("gitea_address_unreadable",
			"the address of the server cannot be read: enter it as in https://git.example.org and connect again", protocol.ManualActionRequired, false)
	}
	if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: server.Host + " " + s.Env("GITEA_TOKEN")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{
		BaseURL:  server.Scheme + "://" + server.Host + strings.TrimSuffix(strings.TrimSuffix(server.Path, "/"), "/api/v1") + "/api/v1",
		Classify: classify,
		Header: http.Header{
			"Authorization": {"token " + strings.TrimSpace(s.Env("GITEA_TOKEN"))}, "Accept": {"application/json"}, "User-Agent": {"pdpp-gitea-connector/1.0"},
		},
	})
	if err != nil {
		return nil, err
	}
	a := &api{client: client}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "user", Page: a.user},
		a.inventory("repositories", "/user/repos", repository),
		a.inventory("starred", "/user/starred", star),
		connectorkit.PagedStream{Stream: "issues", Page: (&things{api: a, kind: issues}).page},
		connectorkit.PagedStream{Stream: "pulls", Page: (&things{api: a, kind: pulls}).page},
		connectorkit.PagedStream{Stream: "comments", Page: (&things{api: a, kind: comments}).page},
	}, nil
}
