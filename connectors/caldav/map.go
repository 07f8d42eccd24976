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

func calendar(c dav.Collection) any {
	out := calendarRecord{ID: c.Path, Name: c.Name, Description: c.Description, Color: c.Color, TimeZone: c.Zone}
	for _, name := range c.Components {
		if holds := map[string]string{"VEVENT": "events", "VTODO": "todos", "VJOURNAL": "journals"}[name]; holds != "" {
			out.Holds = append(out.Holds, holds)
		}
	}
	slices.Sort(out.Holds) // a server may give them in another order each time
	return out
}

func events(c dav.Collection, o dav.Object) ([]dav.Thing, bool) {
	cal, ok := read(o)
	var things []dav.Thing
	once := map[string]int{}
	for _, e := range cal.Events {
		things = append(things, dav.Thing{Key: belongs(&e.Thing, c, o, once), Data: e})
	}
	return things, ok
}

func todos(c dav.Collection, o dav.Object) ([]dav.Thing, bool) {
	cal, ok := read(o)
	var things []dav.Thing
	once := map[string]int{}
	for _, t := range cal.Todos {
		things = append(things, dav.Thing{Key: belongs(&t.Thing, c, o, once), Data: t})
	}
	return things, ok
}

// read reads an object; false when nothing of a calendar is in it.
func read(o dav.Object) (icalendar.Calendar, bool) {
	cal := icalendar.Read(o.Text)
	return cal, len(cal.Events)+len(cal.Todos)+cal.Others > 0
}

// belongs puts a thing into its calendar and gives it its key: the calendar, the UID and
// the occurrence. One without a UID has that of its place, and one that is there twice
// under the same has a number.
func belongs(t *icalendar.Thing, c dav.Collection, o dav.Object, once map[string]int) string {
	if t.UID == "" {
		t.UID = dav.Key(o.Path)
	}
	t.CalendarID = c.Path // its name stands with the calendar, where a change of it is one change
	parts := []string{c.Path, t.UID, t.RecurrenceID}
	same := strings.Join(parts, "\x00")
	if once[same]++; once[same] > 1 {
		parts = append(parts, strconv.Itoa(once[same]))
	}
	t.ID = dav.Key(parts...)
	return t.ID
}
