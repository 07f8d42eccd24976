package googlecalendar

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/googleapi"
	"github.com/pdpp-go/pdpp/connectorkit/icalendar"
)

type calendarRecord struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitzero"`
	Description string `json:"description,omitzero"`
	Location    string `json:"location,omitzero"`
	Color       string `json:"color,omitzero"`
	TimeZone    string `json:"time_zone,omitzero"`
	Role        string `json:"access_role,omitzero"`
	Primary     bool   `json:"primary"`
	Hidden      bool   `json:"hidden"`
}

func readCalendar(raw jsontext.Value) connectorkit.ListItem {
	var wire struct {
		ID          string `json:"id"`
		Summary     string `json:"summary"`
		Override    string `json:"summaryOverride"`
		Description string `json:"description"`
		Location    string `json:"location"`
		Color       string `json:"backgroundColor"`
		TimeZone    string `json:"timeZone"`
		Role        string `json:"accessRole"`
		Primary     bool   `json:"primary"`
		Hidden      bool   `json:"hidden"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil || wire.ID == "" {
		return connectorkit.ListItem{Record: connectorkit.Unreadable(named(raw), err)}
	}
	return connectorkit.ListItem{Key: wire.ID, Record: connectorkit.Upsert(calendarRecord{
		ID: wire.ID, Name: cmp.Or(wire.Override, wire.Summary), Description: wire.Description, Location: wire.Location, Color: wire.Color, TimeZone: wire.TimeZone,
		Role: wire.Role, Primary: wire.Primary, Hidden: wire.Hidden,
	})}
}

// named is the id of a thing; empty when it has none that can be read.
func named(raw jsontext.Value) string {
	var wire struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(raw, &wire) != nil || wire.ID == nil {
		return ""
	}
	return fmt.Sprint(wire.ID)
}

// eventRecord is an event as every source of calendars has it, with what Google adds.
type eventRecord struct {
	icalendar.Event
	UID     string   `json:"uid,omitzero"` // an occurrence that does not take place has none
	Series  string   `json:"recurring_event_id,omitzero"`
	Exrules []string `json:"exrules,omitempty"`
	Type    string   `json:"event_type,omitzero"`
}

// moment is a day, or a time with its offset and the name of its zone.
type moment struct {
	Date string `json:"date"`
	Time string `json:"dateTime"`
	Zone string `json:"timeZone"`
}

// text is the moment as a record has it; empty when there is none. A time whose zone is not named is that of UTC.
func (m *moment) text() (text, kind string, err error) {
	switch {
	case m == nil || m.Date == "" && m.Time == "":
		return "", "", nil
	case m.Date != "":
		_, err = time.Parse(time.DateOnly, m.Date)
		return m.Date, "date", err
	}
	at, err := time.Parse(time.RFC3339, m.Time)
	if err == nil && m.Zone == "" {
		return at.UTC().Format(time.RFC3339), "utc", nil
	}
	return m.Time, "zoned", err
}

type wirePerson struct {
	Email    string `json:"email"`
	Name     string `json:"displayName"`
	Optional bool   `json:"optional"`
	Resource bool   `json:"resource"`
	Response string `json:"responseStatus"`
}

type wireEvent struct {
	ID           string           `json:"id"`
	Status       string           `json:"status"`
	UID          string           `json:"iCalUID"`
	Series       string           `json:"recurringEventId"`
	Original     *moment          `json:"originalStartTime"`
	Summary      string           `json:"summary"`
	Description  string           `json:"description"`
	Location     string           `json:"location"`
	Visibility   string           `json:"visibility"`
	Transparency string           `json:"transparency"`
	Link         string           `json:"htmlLink"`
	Hangout      string           `json:"hangoutLink"`
	Type         string           `json:"eventType"`
	Start        *moment          `json:"start"`
	End          *moment          `json:"end"`
	Recurrence   []string         `json:"recurrence"`
	Organizer    *wirePerson      `json:"organizer"`
	Attendees    []wirePerson     `json:"attendees"`
	Attachments  []jsontext.Value `json:"attachments"`
	Sequence     *int64           `json:"sequence"`
	Created      string           `json:"created"`
	Updated      string           `json:"updated"`
	Reminders    struct {
		Overrides []struct {
			Method  string `json:"method"`
			Minutes int    `json:"minutes"`
		} `json:"overrides"`
	} `json:"reminders"`
	Conference struct {
		Entries []struct {
			Type string `json:"entryPointType"`
			URI  string `json:"uri"`
		} `json:"entryPoints"`
	} `json:"conferenceData"`
}

// cancelled is the status of what was deleted, and of an occurrence that does not take place.
const cancelled = "cancelled"

func readEvent(calendar string, raw jsontext.Value) googleapi.Thing {
	var w wireEvent
	err := json.Unmarshal(raw, &w)
	if err == nil && w.ID != "" && w.Status == cancelled && w.Series == "" {
		return googleapi.Thing{ID: w.ID, Deleted: true}
	}
	var r eventRecord
	if err == nil {
		r, err = w.record(calendar)
	}
	if err != nil || w.ID == "" {
		return googleapi.Thing{Record: connectorkit.Unreadable(named(raw), err)}
	}
	return googleapi.Thing{ID: w.ID, Record: connectorkit.Upsert(r), Part: w.Series, Void: w.Status == cancelled}
}

func (w *wireEvent) record(calendar string) (eventRecord, error) {
	start, kind, err := w.Start.text()
	if err != nil {
		return eventRecord{}, err
	}
	end, _, err := w.End.text()
	if err != nil {
		return eventRecord{}, err
	}
	original, originalKind, err := w.Original.text()
	if err != nil {
		return eventRecord{}, err
	}
	zone := w.Start
	if start == "" && w.Status == cancelled { // it would have begun then: whoever reads that time reads that it does not
		start, kind, zone = original, originalKind, w.Original
	}
	r := eventRecord{UID: w.UID, Series: w.Series, Type: w.Type}
	r.Event = icalendar.Event{End: end, Transparency: w.Transparency, Conference: w.Hangout}
	r.Thing = icalendar.Thing{
		ID: w.ID, CalendarID: calendar, RecurrenceID: original, Summary: w.Summary, Description: w.Description, Location: w.Location, Status: w.Status,
		Visibility: w.Visibility, URL: w.Link, Start: start, AllDay: kind == "date", TimeKind: kind, Attached: len(w.Attachments), Sequence: w.Sequence, CreatedAt: w.Created, UpdatedAt: w.Updated,
	}
	if zone != nil && kind == "zoned" {
		r.TimeZone = zone.Zone
	}
	for _, e := range w.Conference.Entries {
		if r.Conference == "" && e.Type == "video" {
			r.Conference = e.URI
		}
	}
	r.recur(w.Recurrence)
	if w.Organizer != nil {
		r.Organizer = &icalendar.Person{Email: w.Organizer.Email, Name: w.Organizer.Name}
	}
	for _, p := range w.Attendees {
		r.Attendees = append(r.Attendees, p.person())
	}
	for _, o := range w.Reminders.Overrides {
		action := map[string]string{"popup": "display", "email": "email"}[o.Method]
		r.Reminders = append(r.Reminders, icalendar.Reminder{Action: action, Trigger: fmt.Sprintf("-PT%dM", o.Minutes)})
	}
	return r, nil
}

// recur reads the rule of a series as every source of calendars has it.
func (r *eventRecord) recur(lines []string) {
	if len(lines) == 0 {
		return
	}
	text := "BEGIN:VEVENT\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\n"
	for _, e := range icalendar.Read([]byte(text)).Events {
		r.Rule, r.Dates, r.Except = e.Rule, e.Dates, e.Except
	}
	for _, line := range lines {
		if rule, is := strings.CutPrefix(line, "EXRULE:"); is {
			r.Exrules = append(r.Exrules, rule)
		}
	}
}

func (p wirePerson) person() icalendar.Person {
	out := icalendar.Person{Email: p.Email, Name: p.Name, Role: "req-participant", Status: strings.ReplaceAll(p.Response, "needsAction", "needs-action")}
	switch {
	case p.Resource:
		out.Role = "non-participant"
	case p.Optional:
		out.Role = "opt-participant"
	}
	return out
}
