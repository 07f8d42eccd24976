package icalendar

import (
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/contentline"
)

// Calendar is a text with calendars in it; several in one are read as one.
type Calendar struct {
	Name    string
	Refresh string // how often the publisher wants to be asked, as an ISO 8601 duration
	Events  []Appointment
	Todos   []Todo
	// Others counts components that are neither, such as journals.
	Others int
}

// IsCalendar reports whether a text claims to be a calendar.
func IsCalendar(text []byte) bool {
	head := string(text[:min(len(text), 64)])
	head = strings.ReplaceAll(strings.TrimPrefix(head, "\xef\xbb\xbf"), "\x00", "")
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		head = strings.TrimPrefix(head, mark)
	}
	head = strings.TrimLeft(head, " \r\n\t")
	return len(head) >= 15 && strings.EqualFold(head[:15], "BEGIN:VCALENDAR")
}

// ParseCalendar reads a text.
func ParseCalendar(text []byte) Calendar {
	var out Calendar
	calendars := contentline.Parse(text)
	z := newZoneResolver()
	for _, cal := range calendars {
		z.learnZones(cal)
	}
	for _, cal := range calendars {
		parts := cal.Children
		if cal.Name != "VCALENDAR" {
			parts = []*contentline.Component{cal} // an event without an enclosing calendar
		} else {
			out.Name = firstNonEmpty(out.Name, cal.Text("X-WR-CALNAME"), cal.Text("NAME"))
			out.Refresh = firstNonEmpty(out.Refresh, cal.Text("REFRESH-INTERVAL"), cal.Text("X-PUBLISHED-TTL"))
		}
		for _, c := range parts {
			switch c.Name {
			case "VEVENT":
				out.Events = append(out.Events, eventFrom(c, z))
			case "VTODO":
				out.Todos = append(out.Todos, todoFrom(c, z))
			case "VTIMEZONE", "":
			default:
				out.Others++
			}
		}
	}
	return out
}

func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}
