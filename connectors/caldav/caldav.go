// Package caldav collects the calendars of a person from any CalDAV server: iCloud,
// Fastmail, Nextcloud, Radicale and others.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	caldav.go       open: environment in, collectors out
//	map.go          how a calendar and what stands in it become records
//
// How an account is found and followed is connectorkit/dav, what stands in an object is
// connectorkit/icalendar.
package caldav

import (
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/dav"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the CalDAV connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, open) }

func open(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	a, err := dav.Open(s, dav.Calendars, s.Env("CALDAV_URL"), s.Env("CALDAV_USERNAME"), s.Env("CALDAV_PASSWORD"))
	if err != nil {
		return nil, err
	}
	return []connectorkit.Collector{
		a.Inventory("calendars", calendar),
		a.Flat("events", holding("VEVENT"), events),
		a.Flat("todos", holding("VTODO"), todos),
	}, nil
}

func holding(component string) func(dav.Collection) bool {
	return func(c dav.Collection) bool { return c.Holds(component) }
}
