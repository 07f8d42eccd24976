//pdpp:tier programs

package googlecalendar_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/google"
)

// TestConformance holds the connector to the suite; long, to all of it.
func TestConformance(t *testing.T) {
	small := google.Config{Seed: 5, Calendars: 4, Events: 17, MaxPage: 7}
	large := google.Config{Seed: 5, Calendars: 7, Events: 60, MaxPage: 9}
	connectortest.RunSuite(t, target(t, small), target(t, large))
}

const token = "ya29.under_test"

func target(t *testing.T, cfg google.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "google_calendar"),
		Start:      func(t *testing.T) *connectortest.Sim { return start(t, cfg) },
		Credential: "GOOGLE_CALENDAR_ACCESS_TOKEN",
		Changes: []providersim.Mutation{
			{Op: "add_events", N: 3}, {Op: "edit_events", N: 4}, {Op: "move_occurrences", N: 2}, {Op: "void_occurrences", N: 2},
			{Op: "void_moved", N: 1},
			{Op: "delete_series", N: 2}, {Op: "rename_calendars", N: 1}, {Op: "add_calendars", N: 1},
			{Op: "drop_calendars", N: 1},
		},
		Deletion: providersim.Mutation{Op: "delete_events", N: 2}, DeletedStream: google.StreamEvents,
		Scoped: google.StreamEvents, OptionalField: "summary",
		Stored: stored,
	}
}

func start(t *testing.T, cfg google.Config) *connectortest.Sim {
	t.Helper()
	cfg.Token = token
	s, err := google.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"GOOGLE_CALENDAR_ACCESS_TOKEN": token, "PDPP_GOOGLE_CALENDAR_BASE_URL": s.BaseURL +
			"/calendar/v3"}}
}

// stored returns the record that the store must hold for an object of Google, independent of the connector's mapping.
func stored(stream, _ string, data json.RawMessage) (json.RawMessage, error) {
	var w map[string]any
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	r := map[string]any{}
	put := func(from map[string]any, names ...string) { // pairs of ours and Google's
		for i := 0; i < len(names); i += 2 {
			if v := from[names[i+1]]; v != nil && v != "" {
				r[names[i]] = v
			}
		}
	}
	if stream == google.StreamCalendars {
		put(w, "id", "id", "name", "summary", "name", "summaryOverride", "description", "description", "color",
			"backgroundColor", "time_zone", "timeZone", "access_role", "accessRole")
		r["primary"], r["hidden"] = w["primary"] == true, w["hidden"] == true
		return json.Marshal(r)
	}
	e := w["event"].(map[string]any)
	put(w, "calendar_id", "calendar_id", "start", "start")
	put(e, "id", "id", "uid", "iCalUID", "recurring_event_id", "recurringEventId", "summary", "summary", "description",
		"description", "location", "location", "status", "status",
		"visibility", "visibility", "url", "htmlLink", "sequence", "sequence", "created_at", "created", "updated_at",
		"updated", "transparency", "transparency", "conference_url", "hangoutLink", "event_type", "eventType")
	r["all_day"], r["time_kind"] = !strings.Contains(w["start"].(string), "T"), "zoned"
	if r["all_day"] == true {
		r["time_kind"] = "date"
	}
	for _, name := range []string{"originalStartTime", "start"} {
		if m, is := e[name].(map[string]any); is {
			put(m, "time_zone", "timeZone")
		}
	}
	if m, is := e["originalStartTime"].(map[string]any); is {
		put(m, "recurrence_id", "date", "recurrence_id", "dateTime")
	}
	if m, is := e["end"].(map[string]any); is {
		put(m, "end", "date", "end", "dateTime")
	}
	if m, is := e["organizer"].(map[string]any); is {
		r["organizer"] = map[string]any{"email": m["email"], "name": m["displayName"]}
	}
	if all, is := e["attachments"].([]any); is {
		r["attachments_count"] = len(all)
	}
	if all, is := e["attendees"].([]any); is {
		var people []any
		for _, one := range all {
			m := one.(map[string]any)
			p := map[string]any{"email": m["email"], "role": "req-participant", "status": m["responseStatus"]}
			if m["displayName"] != nil {
				p["name"] = m["displayName"]
			}
			if m["optional"] == true {
				p["role"] = "opt-participant"
			}
			if p["status"] == "needsAction" {
				p["status"] = "needs-action"
			}
			people = append(people, p)
		}
		r["attendees"] = people
	}
	if m, is := e["reminders"].(map[string]any); is && m["overrides"] != nil {
		o := m["overrides"].([]any)[0].(map[string]any)
		r["reminders"] = []any{map[string]any{"action": "display", "trigger": fmt.Sprintf("-PT%vM", o["minutes"])}}
	}
	if lines, is := e["recurrence"].([]any); is {
		r["rrule"] = strings.TrimPrefix(lines[0].(string), "RRULE:")
		r["exdates"] = []any{strings.TrimPrefix(strings.TrimPrefix(lines[1].(string), "EXDATE;"), "VALUE=DATE:")}
	}
	return json.Marshal(r)
}
