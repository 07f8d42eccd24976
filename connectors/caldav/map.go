package caldav

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/dav"
	"github.com/pdpp-go/pdpp/connectorkit/icalendar"
)

type calendarRecord struct {
	ID          string   `json:"id"`
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Color       string   `json:"color,omitzero"`
	TimeZone    string   `json:"time_zone,omitzero"`
	Holds       []string `json:"holds,omitempty"`
}

func calendarRecordOf(c dav.Collection) any {
	out := calendarRecord{ID: c.Path, Name: c.Name, Description: c.Description, Color: c.Color, TimeZone: c.Zone}
	for _, name := range c.Components {
		if holds := map[string]string{"VEVENT": "events", "VTODO": "todos", "VJOURNAL": "journals"}[name]; holds != "" {
			out.Holds = append(out.Holds, holds)
		}
	}
	slices.Sort(out.Holds) // a server may return them in a different order each time
	return out
}

func eventsFromObject(c dav.Collection, o dav.Object) ([]dav.ObjectRecord, bool) {
	cal, ok := parseObject(o)
	var things []dav.ObjectRecord
	once := map[string]int{}
	for _, e := range cal.Events {
		things = append(things, dav.ObjectRecord{Key: assignCalendar(&e.CommonFields, c, o, once), Data: e})
	}
	return things, ok
}

func todosFromObject(c dav.Collection, o dav.Object) ([]dav.ObjectRecord, bool) {
	cal, ok := parseObject(o)
	var things []dav.ObjectRecord
	once := map[string]int{}
	for _, t := range cal.Todos {
		things = append(things, dav.ObjectRecord{Key: assignCalendar(&t.CommonFields, c, o, once), Data: t})
	}
	return things, ok
}

// parseObject reads an object; false when nothing of a calendar is in it.
func parseObject(o dav.Object) (icalendar.Calendar, bool) {
	cal := icalendar.ParseCalendar(o.Text)
	return cal, len(cal.Events)+len(cal.Todos)+cal.Others > 0
}

// assignCalendar sets the calendar of an entry and returns its key: the calendar, the UID and the occurrence. An
// entry without a UID uses its path, and a repeated key gets a number.
func assignCalendar(t *icalendar.CommonFields, c dav.Collection, o dav.Object, once map[string]int) string {
	if t.UID == "" {
		t.UID = dav.RecordKey(o.Path)
	}
	t.CalendarID = c.Path // the calendar record holds the name, so that renaming it changes one record
	parts := []string{c.Path, t.UID, t.RecurrenceID}
	same := strings.Join(parts, "\x00")
	if once[same]++; once[same] > 1 {
		parts = append(parts, strconv.Itoa(once[same]))
	}
	t.ID = dav.RecordKey(parts...)
	return t.ID
}
