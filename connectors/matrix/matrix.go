// Package matrix collects what a person sees on Matrix: rooms, members, messages and the files
// that were sent with them.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	matrix.go       newCollectors: environment in, client and collectors out
//	api.go          requests, and syncs since a token
//	timeline.go     timeline events of the rooms, new and old
//	edit.go         messages that were changed
//	message.go      how an event becomes a message
//	media.go        how an event becomes a file
//	room.go         rooms and their members
//	classify.go     what an answer means
package matrix

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

// Connector is the Matrix connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

// maxAnswerBytes bounds one answer: the state of all rooms at once, with their members.
const maxAnswerBytes = 256 << 20

func newCollectors(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	address := strings.TrimSpace(s.Env("MATRIX_HOMESERVER"))
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	server, err := url.Parse(address)
	if err != nil || server.Host == "" || server.User != nil || server.Scheme != "https" && server.Scheme != "http" {
		return nil, connectorkit.EndRun("matrix_address_unreadable",
			"the address of the homeserver cannot be read: enter it as in https://matrix.example.org and connect again",
			protocol.ManualActionRequired, false)
	}
	base := server.Scheme + "://" + server.Host + strings.TrimSuffix(server.Path, "/")
	header := http.Header{"Authorization": {"Bearer " + strings.TrimSpace(s.Env("MATRIX_ACCESS_TOKEN"))},
		"User-Agent": {"pdpp-matrix-connector/1.0"}}
	if err := s.SharedQuota(ctx,
		connectorkit.SharedQuota{Account: base + " " + s.Env("MATRIX_ACCESS_TOKEN")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{BaseURL: base, Classify: classifyResponse, MaxBody: maxAnswerBytes,
		Header: header})
	if err != nil {
		return nil, err
	}
	files, err := s.HTTP(governhttp.Options{BaseURL: base, Classify: classifyFile, Header: header})
	if err != nil {
		return nil, err
	}
	a := &matrixAccount{client: client, files: files, setup: s, anew: s.FullRefresh()}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "rooms", Page: (&roomCollector{matrixAccount: a}).fetchNextPage},
		connectorkit.PagedStream{Stream: "members", Page: (&memberCollector{matrixAccount: a}).fetchNextPage},
		connectorkit.PagedStream{Stream: "messages",
			Page: (&roomTimeline{matrixAccount: a, kind: messageKind{a}}).fetchNextPage},
		connectorkit.PagedStream{Stream: "media", Page: (&roomTimeline{matrixAccount: a, kind: mediaKind{a}}).fetchNextPage},
	}, nil
}
