// Package strava collects a person's activities from Strava.
//
//	manifest.json   what it declares: the stream, its schema, the sign-in
//	strava.go       where the activities are, and how Strava refuses
package strava

import (
	_ "embed"
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Strava connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL: "https://www.strava.com",
	Auth:    rest.AccessToken("STRAVA_ACCESS_TOKEN"),
	QuotaOf: []string{"STRAVA_CLIENT_ID"},
	// An app of one person stays far below what Strava allows it in a quarter of an hour.
	Pace:        func(c *governor.Config) { c.Ceiling = time.Second },
	Account:     &rest.Lookup{Request: rest.Request{Path: "api/v3/athlete"}, Member: "id"},
	LimitWindow: 15 * time.Minute, // the shorter of Strava's two windows, which begin by the clock
	Errors: []rest.ErrorRule{
		{Status: http.StatusUnauthorized, Contains: []string{`"missing"`, `_permission"`}, Class: connectorkit.Unauthorized,
			Message: "Strava did not grant the permission to read your activities. Sign in at Strava again and leave it " +
				"ticked."},
		{Status: http.StatusForbidden, Class: connectorkit.Forbidden,
			Message: "Strava lets this app read only its owner's account. Sign in with the account that created the app, " +
				"and check that its subscription is active."},
	},
	Streams: []rest.Stream{{
		// The whole list is read in every run: six requests for a thousand activities. A bookmark by start time would miss
		// late uploads, edits and deletions, which Strava does not announce. A page may be short before the end.
		Name:    "activities",
		Request: rest.Request{Path: "api/v3/athlete/activities", Query: url.Values{"per_page": {"200"}}},
		Pages:   rest.PageNumber{Param: "page"},
		Fields: rest.Fields{
			"id": rest.NumberText("id"), "start_date": rest.From("start_date").Time(),
			"distance_m": rest.From("distance"), "moving_time_s": rest.From("moving_time"),
			"elapsed_time_s": rest.From("elapsed_time"), "total_elevation_gain_m": rest.From("total_elevation_gain"),
			"average_speed_mps": rest.From("average_speed"), "max_speed_mps": rest.From("max_speed"),
			"start_latlng": rest.From("start_latlng").OrElse("[]"), "end_latlng": rest.From("end_latlng").OrElse("[]"),
			"map_polyline": rest.From("map.summary_polyline").NonEmpty(),
		},
	}},
}
