// Package oura collects a person's nights and days from Oura: sleep, its scores, readiness and activity.
//
//	manifest.json   what it declares: streams, schemas, the sign-in
//	oura.go         open: environment in, client and collectors out
//	days.go         a collection by its days, with the last two weeks read again
//	map.go          how one document becomes one record
//	classify.go     what an answer means
package oura

import (
	"context"
	_ "embed"
	"net/http"
	"time"

	"pdpp/connectorkit"
	"pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Oura connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

const (
	publicAPI   = "https://api.ouraring.com"
	accessToken = "OURA_ACCESS_TOKEN"
	// firstDay is before the first ring was worn.
	firstDay = "2015-01-01"
)

// open runs once per run.
func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	base := s.Env("PDPP_OURA_BASE_URL")
	if base == "" {
		base = publicAPI
	}
	first, err := time.Parse(time.DateOnly, firstDay)
	if text := s.Env("PDPP_OURA_FIRST_DAY"); text != "" {
		first, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, errFirstDay)
	}
	if err := s.Allowance(ctx, connectorkit.Allowance{Account: s.Env("OURA_CLIENT_ID")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{BaseURL: base, Classify: classify, Token: s.Token(accessToken), Header: http.Header{"User-Agent": {"pdpp-oura-connector/1.0"}}})
	if err != nil {
		return nil, err
	}
	a := &account{client: client}
	of := func(stream, collection string, read reader) connectorkit.Collector {
		return connectorkit.Flat{Stream: stream, Page: (&days{account: a, collection: collection, first: first, read: read}).page}
	}
	return []connectorkit.Collector{
		of("sleep", "sleep", readSleep), of("daily_sleep", "daily_sleep", keep[scoreRecord]),
		of("readiness", "daily_readiness", keep[readinessRecord]), of("activity", "daily_activity", keep[activityRecord]),
	}, nil
}
