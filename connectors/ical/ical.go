// Package ical collects calendars that are published as a feed: one address whose answer is
// a whole calendar, and which is a secret.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	ical.go         open: environment in, collectors out
//	feed.go         one feed: its address, its answer and what that means
//	walk.go         what is new in it, what is gone, and what only is not shown any more
//	memory.go       what the bookmark remembers
//
// What stands in a calendar is connectorkit/icalendar.
package ical

import (
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/icalendar"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of feeds.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, open) }

func open(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	feeds, err := feedsOf(s, s.Env("ICAL_SUBSCRIPTION_URL"))
	if err != nil {
		return nil, err
	}
	events := func(cal icalendar.Calendar) []thing {
		var out []thing
		for _, e := range cal.Events {
			out = append(out, thing{Thing: &e.Thing, data: &e})
		}
		return out
	}
	todos := func(cal icalendar.Calendar) []thing {
		var out []thing
		for _, t := range cal.Todos {
			out = append(out, thing{Thing: &t.Thing, data: &t})
		}
		return out
	}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "calendars", Page: (&shelf{feeds: feeds}).page},
		connectorkit.PagedStream{Stream: "events", Page: (&walk{feeds: feeds, things: events, dated: true}).page},
		connectorkit.PagedStream{Stream: "todos", Page: (&walk{feeds: feeds, things: todos}).page},
	}, nil
}
