package googlecalendar

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/icalendar"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

// eventRecord is an event as every source of calendars has it, with what Google adds.
type eventRecord struct {
	icalendar.Appointment
	UID     string   `json:"uid,omitzero"` // an occurrence that does not take place has none
	Series  string   `json:"recurring_event_id,omitzero"`
	Exrules []string `json:"exrules,omitempty"`
	Type    string   `json:"event_type,omitzero"`
}

// wireMoment is a day, or a time with its offset and the name of its zone.
type wireMoment struct {
	Date string `json:"date"`
	Time string `json:"dateTime"`
	Zone string `json:"timeZone"`
}

// momentText returns the moment in the format of records; empty when there is none. A time without a zone is in UTC.
func (m *wireMoment) momentText() (text, kind string, err error) {
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

type wireEventBody struct {
	ID           string           `json:"id"`
	Status       string           `json:"status"`
	UID          string           `json:"iCalUID"`
	Series       string           `json:"recurringEventId"`
	Original     *wireMoment      `json:"originalStartTime"`
	Summary      string           `json:"summary"`
	Description  string           `json:"description"`
	Location     string           `json:"location"`
	Visibility   string           `json:"visibility"`
	Transparency string           `json:"transparency"`
	Link         string           `json:"htmlLink"`
	Hangout      string           `json:"hangoutLink"`
	Type         string           `json:"eventType"`
	Start        *wireMoment      `json:"start"`
	End          *wireMoment      `json:"end"`
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

// statusCancelled is the status of a deleted event, and of an occurrence that does not take place.
const statusCancelled = "cancelled"

func readCalendarEvent(calendar string, raw jsontext.Value) rest.Row {
	var w wireEventBody
	err := json.Unmarshal(raw, &w)
	if err == nil && w.ID != "" && w.Status == statusCancelled && w.Series == "" {
		return rest.Row{Key: w.ID, Deleted: true}
	}
	var r eventRecord
	if err == nil {
		r, err = w.toRecord(calendar)
	}
	if err != nil || w.ID == "" {
		return rest.Unreadable(rest.Item{Raw: raw}, "id", err)
	}
	return rest.Row{Key: w.ID, Record: connectorkit.Upsert(r), Part: w.Series, Void: w.Status == statusCancelled}
}

func (w *wireEventBody) toRecord(calendar string) (eventRecord, error) {
	start, kind, err := w.Start.momentText()
	if err != nil {
		return eventRecord{}, err
	}
	end, _, err := w.End.momentText()
	if err != nil {
		return eventRecord{}, err
	}
	original, originalKind, err := w.Original.momentText()
	if err != nil {
		return eventRecord{}, err
	}
	zone := w.Start
	if start == "" && w.Status == statusCancelled { // its planned start; the status shows that it does not take place
		start, kind, zone = original, originalKind, w.Original
	}
	r := eventRecord{UID: w.UID, Series: w.Series, Type: w.Type}
	r.Appointment = icalendar.Appointment{End: end, Transparency: w.Transparency, Conference: w.Hangout}
	r.CommonFields = icalendar.CommonFields{
		ID: w.ID, CalendarID: calendar, RecurrenceID: original, Summary: w.Summary, Description: w.Description,
		Location: w.Location, Status: w.Status,
		Visibility: w.Visibility, URL: w.Link, Start: start, AllDay: kind == "date", TimeKind: kind,
		Attached: len(w.Attachments), Sequence: w.Sequence, CreatedAt: w.Created, UpdatedAt: w.Updated,
	}
	if zone != nil && kind == "zoned" {
		r.TimeZone = zone.Zone
	}
	for _, e := range w.Conference.Entries {
		if r.Conference == "" && e.Type == "video" {
			r.Conference = e.URI
		}
	}
	r.setRecurrence(w.Recurrence)
	if w.Organizer != nil {
		r.Organizer = &icalendar.Person{Email: w.Organizer.Email, Name: w.Organizer.Name}
	}
	for _, p := range w.Attendees {
		r.Attendees = append(r.Attendees, p.toPerson())
	}
	for _, o := range w.Reminders.Overrides {
		action := map[string]string{"popup": "display", "email": "email"}[o.Method]
		r.Reminders = append(r.Reminders, icalendar.Reminder{Action: action, Trigger: fmt.Sprintf("-PT%dM", o.Minutes)})
	}
	return r, nil
}

// setRecurrence reads the rule of a series as every source of calendars has it.
func (r *eventRecord) setRecurrence(lines []string) {
	if len(lines) == 0 {
		return
	}
	text := "BEGIN:VEVENT\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\n"
	for _, e := range icalendar.ParseCalendar([]byte(text)).Events {
		r.Rule, r.Dates, r.Except = e.Rule, e.Dates, e.Except
	}
	for _, line := range lines {
		if rule, is := strings.CutPrefix(line, "EXRULE:"); is {
			r.Exrules = append(r.Exrules, rule)
		}
	}
}

func (p wirePerson) toPerson() icalendar.Person {
	out := icalendar.Person{Email: p.Email, Name: p.Name, Role: "req-participant",
		Status: strings.ReplaceAll(p.Response, "needsAction", "needs-action")}
	switch {
	case p.Resource:
		out.Role = "non-participant"
	case p.Optional:
		out.Role = "opt-participant"
	}
	return out
}
