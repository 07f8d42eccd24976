// Package oura collects a person's nights and days from Oura: sleep, its scores, readiness, activity, stress,
// bedtimes, rest modes and the profile.
//
//	manifest.json   what it declares: streams, schemas, the sign-in
//	oura.go         open: environment in, client and collectors out
//	days.go         a collection by its days, with the last two weeks read again
//	map.go          how one document becomes one record
//	classify.go     what an answer means
package oura

import (
	"cmp"
	"context"
	_ "embed"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
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
	if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: s.Env("OURA_CLIENT_ID")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{BaseURL: base, Classify: classify, Token: s.Token(accessToken), Header: http.Header{"User-Agent": {"pdpp-oura-connector/1.0"}}})
	if err != nil {
		return nil, err
	}
	a := &account{client: client}
	of := func(stream string, d days) connectorkit.Collector {
		d.account, d.first, d.again = a, first, cmp.Or(d.again, again)
		return connectorkit.PagedStream{Stream: stream, Page: d.page}
	}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "profile", Page: a.profile},
		of("sleep", days{collection: "sleep", read: readSleep}),
		of("daily_sleep", days{collection: "daily_sleep", read: keep[scoreRecord]}),
		of("readiness", days{collection: "daily_readiness", read: keep[readinessRecord]}),
		of("activity", days{collection: "daily_activity", read: keep[activityRecord]}),
		of("daily_stress", days{collection: "daily_stress", read: keep[stressRecord], extra: true}),
		of("sleep_time", days{collection: "sleep_time", read: keep[bedtimeRecord], extra: true}),
		of("rest_mode_period", days{collection: "rest_mode_period", read: keep[restRecord], again: restAgain, extra: true}),
	}, nil
}
