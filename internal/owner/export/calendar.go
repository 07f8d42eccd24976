package export

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	calendarInstant = "20060102T150405Z"
	calendarLocal   = "20060102T150405"
	calendarDay     = "20060102"
)

// calendar writes an iCalendar file. Series keep their rules, and the time zone that the rules follow.
type calendar struct {
	out   contentLines
	zones map[string]*time.Location
}

func newCalendar(to io.Writer, _ []api.Stream) (Writer, error) {
	c := &calendar{out: contentLines{to: to}, zones: map[string]*time.Location{}}
	c.out.line("BEGIN", "VCALENDAR")
	c.out.line("VERSION", "2.0")
	c.out.line("PRODID", "-//PDPP//Export//EN")
	c.out.line("CALSCALE", "GREGORIAN")
	return c, c.out.err
}

type calendarPerson struct {
	Email string `json:"email"`
	Name  string `json:"name"`
}

func (c *calendar) Write(s *api.Stream, r *Record) error {
	start := r.role(s, "time")
	zone := c.zone(r)
	begins, at := calendarMoment("DTSTART", start, zone)
	if at == "" {
		return nil
	}
	uid := r.text("uid")
	if uid == "" || !slices.Contains(s.Fields, "uid") {
		uid = r.Key + "@" + r.ConnectionID
	}
	c.out.line("BEGIN", "VEVENT")
	c.out.line("UID", escapeValue(oneValue(uid)))
	c.out.line("DTSTAMP", r.ChangedAt.UTC().Format(calendarInstant))
	c.out.line(begins, at)
	if name, end := calendarMoment("DTEND", r.role(s, "end"), zone); end != "" &&
		strings.Contains(name, "VALUE=DATE") == strings.Contains(begins, "VALUE=DATE") {
		c.out.line(name, end)
	}
	if name, of := calendarMoment("RECURRENCE-ID", r.text("recurrence_id"), zone); of != "" {
		c.out.line(name, of)
	}
	c.out.line("SUMMARY", escapeValue(r.role(s, "title")))
	c.out.line("DESCRIPTION", escapeValue(r.body(s)))
	c.out.line("LOCATION", escapeValue(r.text("location")))
	c.out.line("URL", oneValue(r.role(s, "link")))
	if status := strings.ToUpper(r.text("status")); slices.Contains([]string{"TENTATIVE", "CONFIRMED", "CANCELLED"},
		status) {
		c.out.line("STATUS", status)
	}
	c.out.line("RRULE", oneValue(strings.TrimPrefix(r.text("rrule"), "RRULE:")))
	for _, dates := range [][2]string{{"RDATE", "rdates"}, {"EXDATE", "exdates"}} {
		for _, text := range r.list(dates[1]) {
			if name, at := calendarMoment(dates[0], text, zone); at != "" {
				c.out.line(name, at)
			}
		}
	}
	var organizer calendarPerson
	if json.Unmarshal(r.fields()["organizer"], &organizer) == nil {
		c.person("ORGANIZER", organizer)
	}
	for _, p := range objects[calendarPerson](r, "attendees") {
		c.person("ATTENDEE", p)
	}
	c.out.line("END", "VEVENT")
	return c.out.err
}

func (c *calendar) person(property string, p calendarPerson) {
	if p.Email == "" {
		return
	}
	if p.Name != "" {
		property += ";CN=" + escapeParameter(p.Name)
	}
	c.out.line(property, "mailto:"+oneValue(p.Email))
}

// zone returns the time zone of a series; single events are written in UTC.
func (c *calendar) zone(r *Record) *time.Location {
	name := r.text("time_zone")
	if r.text("rrule") == "" || name == "" || name == "Local" || name == "UTC" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	c.zones[name] = zone
	return zone
}

// calendarMoment returns a property and its value: a day, a time without a zone, a time of a zone, or an instant.
func calendarMoment(property, text string, zone *time.Location) (name, value string) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return property + ";VALUE=DATE", day.Format(calendarDay)
	}
	if at, err := time.Parse("2006-01-02T15:04:05", text); err == nil {
		return property, at.Format(calendarLocal)
	}
	at, ok := api.ParseMoment(text)
	switch {
	case text == "" || !ok:
		return "", ""
	case zone != nil:
		return property + ";TZID=" + zone.String(), at.In(zone).Format(calendarLocal)
	}
	return property, at.UTC().Format(calendarInstant)
}

func (c *calendar) Close() error {
	for _, name := range slices.Sorted(maps.Keys(c.zones)) {
		c.writeZone(name, c.zones[name])
	}
	c.out.line("END", "VCALENDAR")
	return c.out.err
}

// writeZone writes every change of the clocks from 1970 to 2037.
func (c *calendar) writeZone(name string, zone *time.Location) {
	c.out.line("BEGIN", "VTIMEZONE")
	c.out.line("TZID", name)
	at := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC).In(zone)
	_, before := at.Zone()
	c.zoneChange("STANDARD", at.Format(calendarLocal), before, before)
	for {
		_, next := at.ZoneBounds()
		if next.IsZero() || next.Year() > 2037 {
			break
		}
		at = next.In(zone)
		_, after := at.Zone()
		kind := "STANDARD"
		if at.IsDST() {
			kind = "DAYLIGHT"
		}
		c.zoneChange(kind, at.UTC().Add(time.Duration(before)*time.Second).Format(calendarLocal), before, after)
		before = after
	}
	c.out.line("END", "VTIMEZONE")
}

func (c *calendar) zoneChange(kind, at string, before, after int) {
	c.out.line("BEGIN", kind)
	c.out.line("DTSTART", at)
	c.out.line("TZOFFSETFROM", clockOffset(before))
	c.out.line("TZOFFSETTO", clockOffset(after))
	c.out.line("END", kind)
}

func clockOffset(seconds int) string {
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.FixedZone("", seconds)).Format("-0700")
}
