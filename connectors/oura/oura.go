// Package oura collects a person's nights and days from Oura: sleep, its scores, readiness, activity, stress,
// bedtimes, rest modes and the profile.
//
//	manifest.json   what it declares: streams, schemas, the sign-in
//	oura.go         where the documents are, and how Oura refuses
package oura

import (
	_ "embed"
	"net/http"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Oura connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

const (
	// rereadDays is how many past days every run reads again: rings sync late, and Oura analyses nights again.
	rereadDays = 14
	// rereadRestDays is the same for rest modes, which are found by their first day and change when they end.
	rereadRestDays = 180
)

var source = rest.Source{
	BaseURL: "https://api.ouraring.com",
	Auth:    rest.AccessToken("OURA_ACCESS_TOKEN"),
	Header:  http.Header{"User-Agent": {"pdpp-oura-connector/1.0"}},
	QuotaOf: []string{"OURA_CLIENT_ID"},
	Account: &rest.Lookup{Request: rest.Request{Path: "v2/usercollection/personal_info"}, Member: "id"},
	Errors: []rest.ErrorRule{
		{Status: http.StatusForbidden, Class: connectorkit.Forbidden,
			Message: "Oura does not allow access to this part: the permission was not ticked when you signed in, or the " +
				"membership has ended. Sign in at Oura again, or look at your membership there."},
		{Status: http.StatusUpgradeRequired, Class: connectorkit.Forbidden,
			Message: "Oura wants a newer app on your phone. Update the Oura app, open it once, and run this again."},
	},
	Streams: []rest.Stream{
		{Name: "profile", Sync: rest.SingleObject{OfAccount: true}},
		sleep(),
		days("daily_sleep", "daily_sleep", "day", rereadDays),
		days("readiness", "daily_readiness", "day", rereadDays),
		days("activity", "daily_activity", "day", rereadDays),
		optional(days("daily_stress", "daily_stress", "day", rereadDays)),
		optional(days("sleep_time", "sleep_time", "day", rereadDays)),
		optional(days("rest_mode_period", "rest_mode_period", "start_day", rereadRestDays)),
	},
}

// days is a collection by its days. Oura refuses requests for more than a year.
func days(stream, collection, day string, again int) rest.Stream {
	return rest.Stream{
		Name:    stream,
		Request: rest.Request{Path: "v2/usercollection/" + collection},
		Items:   "data",
		Pages:   rest.NextToken{Param: "next_token", Member: "next_token"},
		Fields:  rest.Fields{day: rest.From(day).Day()},
		// 2015 is before the first ring was worn.
		Sync: rest.DateWindows{From: "start_date", To: "end_date", Since: "2015-01-01",
			SinceVariable: "PDPP_OURA_FIRST_DAY", Days: 360, Again: again},
	}
}

// sleep are the nights. A session that the person discarded keeps its id.
func sleep() rest.Stream {
	s := days("sleep", "sleep", "day", rereadDays)
	s.Fields["temperature_delta"] = rest.From("readiness.temperature_deviation")
	s.Deleted = rest.Match{Path: "type", Values: []string{`"deleted"`}}
	return s
}

// optional is a collection that not every membership has. The run continues without it.
func optional(s rest.Stream) rest.Stream {
	s.Optional = rest.IfForbidden
	return s
}
