// Package ical collects calendars that are published as a feed: one address that returns
// a whole calendar, and which is a secret.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	ical.go         newCollectors: environment in, collectors out
//	feed.go         one feed: its address, its answer and what that means
//	walk.go         what is new in it, what is gone, and what only is not shown any more
//	memory.go       what the bookmark remembers
//
// connectorkit/icalendar parses the content of a calendar.
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
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	feeds, err := parseFeeds(s, s.Env("ICAL_SUBSCRIPTION_URL"))
	if err != nil {
		return nil, err
	}
	events := func(cal icalendar.Calendar) []calendarThing {
		var out []calendarThing
		for _, e := range cal.Events {
			out = append(out, calendarThing{CommonFields: &e.CommonFields, data: &e})
		}
		return out
	}
	todos := func(cal icalendar.Calendar) []calendarThing {
		var out []calendarThing
		for _, t := range cal.Todos {
			out = append(out, calendarThing{CommonFields: &t.CommonFields, data: &t})
		}
		return out
	}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "calendars", Page: (&feedState{feeds: feeds}).fetchNextPage},
		connectorkit.PagedStream{Stream: "events",
			Page: (&feedWalk{feeds: feeds, things: events, dated: true}).fetchNextPage},
		connectorkit.PagedStream{Stream: "todos", Page: (&feedWalk{feeds: feeds, things: todos}).fetchNextPage},
	}, nil
}
