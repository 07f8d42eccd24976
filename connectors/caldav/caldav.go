// Package caldav collects the calendars of a person from any CalDAV server: iCloud,
// Fastmail, Nextcloud, Radicale and others.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	caldav.go       newCollectors: environment in, collectors out
//	map.go          how a calendar and its entries become records
//
// connectorkit/dav finds and follows an account; the content of an object is parsed by
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
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	a, err := dav.OpenAccount(s, dav.Calendars, s.Env("CALDAV_URL"), s.Env("CALDAV_USERNAME"), s.Env("CALDAV_PASSWORD"))
	if err != nil {
		return nil, err
	}
	return []connectorkit.Collector{
		a.CollectionStream("calendars", calendarRecordOf),
		a.ObjectStream("events", supportsComponent("VEVENT"), eventsFromObject),
		a.ObjectStream("todos", supportsComponent("VTODO"), todosFromObject),
	}, nil
}

func supportsComponent(component string) func(dav.Collection) bool {
	return func(c dav.Collection) bool { return c.HoldsComponent(component) }
}
