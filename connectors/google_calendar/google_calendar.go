// Package googlecalendar collects a person's calendars and events from the Google Calendar API.
//
//	manifest.json        what it declares: streams, schemas, the sign-in
//	google_calendar.go   open: environment in, client and collectors out
//	calendars.go         the list of calendars
//	events.go            the events of a calendar, and what changed of them
//	map.go               how one calendar or event becomes one record
//
// How Google refuses, and how its lists tell changes, is connectorkit/googleapi.
package googlecalendar

import (
	"cmp"
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/googleapi"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Google Calendar connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

const (
	publicAPI   = "https://www.googleapis.com/calendar/v3"
	accessToken = "GOOGLE_CALENDAR_ACCESS_TOKEN"
)

// open runs once per run.
func open(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	client, err := s.HTTP(governhttp.Options{
		BaseURL: cmp.Or(s.Env("PDPP_GOOGLE_CALENDAR_BASE_URL"), publicAPI), Classify: googleapi.Classify("Google Calendar API"), Token: s.Token(accessToken),
	})
	if err != nil {
		return nil, err
	}
	a := &api{client: client, draw: googleapi.Allowance(s)}
	return []connectorkit.Collector{
		connectorkit.FullList{Stream: "calendars", Page: a.inventory},
		googleapi.Lists{Names: a.readable, Page: a.events, Gone: a.gone, Key: eventKey}.Flat("events"),
	}, nil
}
