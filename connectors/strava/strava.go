// Package strava collects a person's activities from Strava.
//
//	manifest.json   what it declares: the stream, its schema, the sign-in
//	strava.go       open: environment in, client and collector out
//	activities.go   the list, walked whole in every run
//	map.go          how one activity becomes one record
//	classify.go     what an answer means
package strava

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

// Connector is the Strava connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

const (
	publicAPI   = "https://www.strava.com"
	accessToken = "STRAVA_ACCESS_TOKEN"
)

// open runs once per run.
func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	base := s.Env("PDPP_STRAVA_BASE_URL")
	if base == "" {
		base = publicAPI
	}
	if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: s.Env("STRAVA_CLIENT_ID")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{BaseURL: base, Classify: classify, Token: s.Token(accessToken)}, unhurried)
	if err != nil {
		return nil, err
	}
	return []connectorkit.Collector{connectorkit.FullList{Stream: "activities", Page: (&activities{client: client}).page}},
		nil
}

// unhurried keeps an app of one person far below what Strava allows it in a quarter of an hour.
func unhurried(c *governor.Config) { c.Ceiling = time.Second }
