package icalendar

import (
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/contentline"
)

// Thing is what events and tasks have in common. ID and the calendar are the source's to say.
type Thing struct {
	ID           string `json:"id"`
	CalendarID   string `json:"calendar_id"`
	CalendarName string `json:"calendar_name,omitzero"`

	UID string `json:"uid"`
	// RecurrenceID is the occurrence of a series that this one stands for, as its
	// original start; empty for a series itself and for what does not repeat.
	RecurrenceID string `json:"recurrence_id,omitzero"`
	ThisOnwards  bool   `json:"this_and_future,omitzero"`

	Summary     string `json:"summary,omitzero"`
	Description string `json:"description,omitzero"`
	Location    string `json:"location,omitzero"`
	Status      string `json:"status,omitzero"`
	Visibility  string `json:"visibility,omitzero"`
	URL         string `json:"url,omitzero"`

	Start    string `json:"start,omitzero"`
	StartRaw string `json:"start_raw,omitzero"`
	AllDay   bool   `json:"all_day"`
	// TimeKind says what the times are: utc, zoned, floating, date, or unresolved when the
	// zone is not known, in which case they are given as if they were UTC.
	TimeKind string `json:"time_kind,omitzero"`
	TimeZone string `json:"time_zone,omitzero"`

	// The rule, further dates and exceptions of a series stand as they were written.
	Rule   string   `json:"rrule,omitzero"`
	Dates  []string `json:"rdates,omitempty"`
	Except []string `json:"exdates,omitempty"`

	Categories []string   `json:"categories,omitempty"`
	Organizer  *Person    `json:"organizer,omitzero"`
	Attendees  []Person   `json:"attendees,omitempty"`
	Reminders  []Reminder `json:"reminders,omitempty"`
	Attached   int        `json:"attachments_count,omitzero"`
	Sequence   *int64     `json:"sequence,omitzero"`
	CreatedAt  string     `json:"created_at,omitzero"`
	UpdatedAt  string     `json:"updated_at,omitzero"`
}

// Event is an appointment.
type Event struct {
	Thing
	End          string `json:"end,omitzero"`
	Transparency string `json:"transparency,omitzero"`
	Conference   string `json:"conference_url,omitzero"`
	Geo          string `json:"geo,omitzero"`
}

// Todo is a task.
type Todo struct {
	Thing
	Due         string `json:"due,omitzero"`
	CompletedAt string `json:"completed_at,omitzero"`
	Percent     *int64 `json:"percent_complete,omitzero"`
	Priority    *int64 `json:"priority,omitzero"`
	Parent      string `json:"parent_uid,omitzero"`
}

// Person is who invites or is invited.
type Person struct {
	Email  string `json:"email,omitzero"`
	Name   string `json:"name,omitzero"`
	Role   string `json:"role,omitzero"`
	Status string `json:"status,omitzero"`
}

// Reminder is an alarm.
type Reminder struct {
	Action  string `json:"action,omitzero"`
	Trigger string `json:"trigger"`
}

func event(c *contentline.Component, z *zones) Event {
	e := Event{
		Thing: thing(c, z), Transparency: small(c.Text("TRANSP")), Geo: c.Get("GEO").Value,
		Conference: first(c.Text("CONFERENCE"), c.Text("X-GOOGLE-CONFERENCE")),
	}
	switch end := c.Get("DTEND"); {
	case end.Value != "":
		e.End = z.time(end).text
	case c.Get("DURATION").Value != "":
		e.End = z.time(c.Get("DTSTART")).after(c.Get("DURATION").Value)
	}
	return e
}

func todo(c *contentline.Component, z *zones) Todo {
	t := Todo{
		Thing: thing(c, z), Due: z.time(c.Get("DUE")).text, CompletedAt: z.time(c.Get("COMPLETED")).text,
		Percent: number(c, "PERCENT-COMPLETE"), Priority: number(c, "PRIORITY"), Parent: c.Text("RELATED-TO"),
	}
	if t.Due == "" && c.Get("DURATION").Value != "" {
		t.Due = z.time(c.Get("DTSTART")).after(c.Get("DURATION").Value)
	}
	return t
}

func thing(c *contentline.Component, z *zones) Thing {
	start := z.time(c.Get("DTSTART"))
	t := Thing{
		UID: strings.TrimSpace(c.Text("UID")), Summary: c.Text("SUMMARY"), Description: c.Text("DESCRIPTION"), Location: c.Text("LOCATION"),
		Status: small(c.Text("STATUS")), Visibility: small(c.Text("CLASS")), URL: c.Get("URL").Value,
		Start: start.text, StartRaw: start.raw, AllDay: start.kind == kindDate, TimeKind: start.kind, TimeZone: start.zone,
		Rule: strings.Join(values(c, "RRULE"), "\n"), Dates: values(c, "RDATE"), Except: values(c, "EXDATE"),
		Attached: len(c.All("ATTACH")), Sequence: number(c, "SEQUENCE"),
		CreatedAt: z.time(c.Get("CREATED")).text, UpdatedAt: z.time(c.Get("LAST-MODIFIED")).text,
	}
	if r := c.Get("RECURRENCE-ID"); r.Value != "" {
		at := z.time(r)
		t.RecurrenceID, t.ThisOnwards = first(at.text, at.raw), strings.EqualFold(r.Param("RANGE"), "THISANDFUTURE")
	}
	for _, p := range c.All("CATEGORIES") {
		for _, name := range p.List() {
			if name = strings.TrimSpace(name); name != "" {
				t.Categories = append(t.Categories, name)
			}
		}
	}
	if p := c.Get("ORGANIZER"); p.Value != "" {
		who := person(p)
		t.Organizer = &who
	}
	for _, p := range c.All("ATTENDEE") {
		t.Attendees = append(t.Attendees, person(p))
	}
	for _, a := range c.Children {
		if trigger := a.Get("TRIGGER").Value; a.Name == "VALARM" && trigger != "" {
			t.Reminders = append(t.Reminders, Reminder{Action: small(a.Text("ACTION")), Trigger: trigger})
		}
	}
	return t
}

func person(p contentline.Property) Person {
	who := Person{Name: p.Param("CN"), Role: small(p.Param("ROLE")), Status: small(p.Param("PARTSTAT")), Email: p.Param("EMAIL")}
	if len(p.Value) > 7 && strings.EqualFold(p.Value[:7], "mailto:") {
		who.Email = p.Value[7:]
	}
	return who
}

// values are the lines of a property as they were written, each with its zone.
func values(c *contentline.Component, name string) []string {
	var out []string
	for _, p := range c.All(name) {
		text := p.Value
		if zone := p.Param("TZID"); zone != "" {
			text = "TZID=" + zone + ":" + text
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

func small(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func number(c *contentline.Component, name string) *int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(c.Get(name).Value), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
