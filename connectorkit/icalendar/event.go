package icalendar

import (
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/contentline"
)

// CommonFields is what events and tasks have in common. The source adds ID and calendar.
type CommonFields struct {
	ID           string `json:"id"`
	CalendarID   string `json:"calendar_id"`
	CalendarName string `json:"calendar_name,omitzero"`

	UID string `json:"uid"`
	// RecurrenceID is the occurrence of a series that this one replaces, as its
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
	// TimeKind is the kind of the times: utc, zoned, floating, date, or unresolved when the
	// zone is unknown; the times are then written as if they were UTC.
	TimeKind string `json:"time_kind,omitzero"`
	TimeZone string `json:"time_zone,omitzero"`

	// The rule, further dates and exceptions of a series are unchanged source text.
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

// Appointment is an appointment.
type Appointment struct {
	CommonFields
	End          string `json:"end,omitzero"`
	Transparency string `json:"transparency,omitzero"`
	Conference   string `json:"conference_url,omitzero"`
	Geo          string `json:"geo,omitzero"`
}

// Todo is a task.
type Todo struct {
	CommonFields
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

func eventFrom(c *contentline.Component, z *zoneResolver) Appointment {
	e := Appointment{
		CommonFields: commonFieldsFrom(c, z), Transparency: lowerTrimmed(c.Text("TRANSP")), Geo: c.Get("GEO").Value,
		Conference: firstNonEmpty(c.Text("CONFERENCE"), c.Text("X-GOOGLE-CONFERENCE")),
	}
	switch end := c.Get("DTEND"); {
	case end.Value != "":
		e.End = z.parseTime(end).text
	case c.Get("DURATION").Value != "":
		e.End = z.parseTime(c.Get("DTSTART")).addDuration(c.Get("DURATION").Value)
	}
	return e
}

func todoFrom(c *contentline.Component, z *zoneResolver) Todo {
	t := Todo{
		CommonFields: commonFieldsFrom(c, z), Due: z.parseTime(c.Get("DUE")).text,
		CompletedAt: z.parseTime(c.Get("COMPLETED")).text,
		Percent:     integerValue(c, "PERCENT-COMPLETE"), Priority: integerValue(c, "PRIORITY"), Parent: c.Text("RELATED-TO"),
	}
	if t.Due == "" && c.Get("DURATION").Value != "" {
		t.Due = z.parseTime(c.Get("DTSTART")).addDuration(c.Get("DURATION").Value)
	}
	return t
}

func commonFieldsFrom(c *contentline.Component, z *zoneResolver) CommonFields {
	start := z.parseTime(c.Get("DTSTART"))
	t := CommonFields{
		UID: strings.TrimSpace(c.Text("UID")), Summary: c.Text("SUMMARY"), Description: c.Text("DESCRIPTION"),
		Location: c.Text("LOCATION"),
		Status:   lowerTrimmed(c.Text("STATUS")), Visibility: lowerTrimmed(c.Text("CLASS")), URL: c.Get("URL").Value,
		Start: start.text, StartRaw: start.raw, AllDay: start.kind == timeKindDate, TimeKind: start.kind,
		TimeZone: start.zone,
		Rule:     strings.Join(rawValues(c, "RRULE"), "\n"), Dates: rawValues(c, "RDATE"), Except: rawValues(c, "EXDATE"),
		Attached: len(c.All("ATTACH")), Sequence: integerValue(c, "SEQUENCE"),
		CreatedAt: z.parseTime(c.Get("CREATED")).text, UpdatedAt: z.parseTime(c.Get("LAST-MODIFIED")).text,
	}
	if r := c.Get("RECURRENCE-ID"); r.Value != "" {
		at := z.parseTime(r)
		t.RecurrenceID, t.ThisOnwards = firstNonEmpty(at.text, at.raw), strings.EqualFold(r.Param("RANGE"), "THISANDFUTURE")
	}
	for _, p := range c.All("CATEGORIES") {
		for _, name := range p.List() {
			if name = strings.TrimSpace(name); name != "" {
				t.Categories = append(t.Categories, name)
			}
		}
	}
	if p := c.Get("ORGANIZER"); p.Value != "" {
		who := personFrom(p)
		t.Organizer = &who
	}
	for _, p := range c.All("ATTENDEE") {
		t.Attendees = append(t.Attendees, personFrom(p))
	}
	for _, a := range c.Children {
		if trigger := a.Get("TRIGGER").Value; a.Name == "VALARM" && trigger != "" {
			t.Reminders = append(t.Reminders, Reminder{Action: lowerTrimmed(a.Text("ACTION")), Trigger: trigger})
		}
	}
	return t
}

func personFrom(p contentline.Property) Person {
	who := Person{Name: p.Param("CN"), Role: lowerTrimmed(p.Param("ROLE")), Status: lowerTrimmed(p.Param("PARTSTAT")),
		Email: p.Param("EMAIL")}
	if len(p.Value) > 7 && strings.EqualFold(p.Value[:7], "mailto:") {
		who.Email = p.Value[7:]
	}
	return who
}

// rawValues are the lines of a property as they were written, each with its zone.
func rawValues(c *contentline.Component, name string) []string {
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

func lowerTrimmed(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func integerValue(c *contentline.Component, name string) *int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(c.Get(name).Value), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
