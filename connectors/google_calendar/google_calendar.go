// Package googlecalendar collects a person's calendars and events from the Google Calendar API.
//
//	manifest.json        what it declares: streams, schemas, the sign-in
//	google_calendar.go   where calendars and events are
//	map.go               how one event becomes one record
//
// connectorkit/googleapi handles Google's refusals.
package googlecalendar

import (
	_ "embed"
	"net/url"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/googleapi"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/protocol"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Google Calendar connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL: "https://www.googleapis.com/calendar/v3",
	Auth:    rest.AccessToken("GOOGLE_CALENDAR_ACCESS_TOKEN"),
	// Google counts what a project asks for one person.
	QuotaOf: []string{"GOOGLE_OAUTH_CLIENT_ID"}, PerAccount: true,
	// The person's own calendar is named after them.
	Account: &rest.Lookup{Request: rest.Request{Path: "calendars/primary"}, Member: "id"},
	Errors:  googleapi.ErrorRules("Google Calendar API"),
	Streams: []rest.Stream{
		{
			Name: "calendars", Items: "items", Pages: pages, Shared: true, OmitEmpty: true,
			Request: rest.Request{Path: "users/me/calendarList",
				Query: url.Values{"maxResults": {"250"}, "showHidden": {"true"}}},
			Fields: rest.Fields{
				"name": rest.From("summaryOverride", "summary"), "color": rest.From("backgroundColor"),
				"time_zone": rest.From("timeZone"), "access_role": rest.From("accessRole"),
				"primary": rest.From("primary").OrElse("false"), "hidden": rest.From("hidden").OrElse("false"),
			},
		},
		{
			// A series is one event, with another event for each changed or cancelled occurrence: this is Google's default.
			// Google serves up to 2,500 events; 1,000 become durable at once.
			Name: "events", Items: "items", Pages: pages,
			Request:    rest.Request{Path: "calendars/{id}/events", Query: url.Values{"maxResults": {"1000"}}},
			Partitions: rest.ParentsOf("calendars", "id", nil, isReadable),
			Read:       func(i rest.Item) rest.Row { return readCalendarEvent(i.Partition.ID, i.Raw) },
			// A meeting has the same id in the calendars of all participants, so the calendar is part of the key.
			Sync: rest.ChangeTokens{Param: "syncToken", Member: "nextSyncToken",
				Key:  func(calendar, id string) string { return protocol.CompoundKey(calendar, id) },
				Gone: rest.Request{Path: "users/me/calendarList/{id}"}},
		},
	},
}

var pages = rest.NextToken{Param: "pageToken", Member: "nextPageToken"}

// isReadable reports whether the events of a calendar are readable. Google shows only free and busy times of the
// others.
func isReadable(calendar rest.Item) bool {
	role := calendar.Text("accessRole")
	return role != "freeBusyReader" && role != "none"
}
