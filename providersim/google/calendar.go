package google

import (
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// calendar is one in the person's list, with what is in it.
type calendar struct {
	id, summary, role, zone string
	gone, hidden            bool
	events                  []*event
}

// event is one, a series, or an occurrence of one.
type event struct {
	id     string
	seq    int
	gone   bool   // cancelled, and not as an occurrence
	series *event // of an occurrence
	void   bool   // an occurrence that does not take place
	times  int    // occurrences that were changed
	data   object
}

var (
	zones = []string{"Europe/Stockholm", "America/New_York", "Asia/Kolkata"}
	roles = []string{"owner", "reader", "writer", "freeBusyReader"}
)

// alphabet is that of Google's ids.
var alphabet = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

func (g *Google) id() string {
	g.lastID++
	b := binary.BigEndian.AppendUint64(nil, uint64(g.lastID)*11400714819323198485)
	return alphabet.EncodeToString(append(b, byte(g.lastID), byte(g.cfg.Seed)))
}

func (g *Google) touch(e *event) {
	g.seq++
	e.seq = g.seq
	g.clock = g.clock.Add(time.Minute)
	e.data["updated"] = g.clock.Format("2006-01-02T15:04:05.000Z")
}

func (g *Google) addCalendar() *calendar {
	n := len(g.calendars)
	c := &calendar{id: fmt.Sprintf("c_%s@group.calendar.google.com", g.id()), summary: fmt.Sprintf("Calendar %d", n), role: roles[n%len(roles)], zone: zones[n%len(zones)], hidden: n == 2}
	if n == 0 {
		c.id, c.summary = g.mail, g.mail
	}
	if n == 1 {
		c.id = "sv.swedish#holiday@group.v.calendar.google.com"
	}
	g.calendars = append(g.calendars, c)
	for range g.cfg.Events {
		g.addEvent(c)
	}
	for range g.cfg.Events / 8 {
		g.changeOccurrence(c, false)
		g.changeOccurrence(c, true)
	}
	return c
}

// addEvent makes an event; every fourth is a series, every fifth has no time, and every sixth has guests.
func (g *Google) addEvent(c *calendar) *event {
	n := len(c.events)
	e := &event{id: g.id()}
	begin := g.clock.AddDate(0, 0, n%90-30)
	e.data = object{
		"kind": "calendar#event", "etag": `"1"`, "iCalUID": e.id + "@google.com", "summary": fmt.Sprintf("Meeting %d", n), "created": "2026-01-05T09:30:00.000Z", "sequence": n % 3,
		"htmlLink": "https://www.google.com/calendar/event?eid=" + e.id, "creator": object{"email": g.mail, "self": true},
		"organizer": object{"email": g.mail, "displayName": "Alba", "self": true}, "eventType": "default", "reminders": object{"useDefault": true},
		"start": at(begin, c.zone), "end": at(begin.Add(45*time.Minute), c.zone),
	}
	if n%5 == 1 {
		e.data["start"], e.data["end"] = object{"date": begin.Format(time.DateOnly)}, object{"date": begin.AddDate(0, 0, 1).Format(time.DateOnly)}
	}
	if n%6 == 2 {
		e.data["attendees"] = []any{object{"email": "bo@example.com", "displayName": "Bo", "responseStatus": "needsAction"}, object{"email": g.mail, "self": true, "optional": true, "responseStatus": "accepted"}}
		e.data["location"], e.data["description"] = "Room 5", "Bring <b>tea</b>"
		e.data["reminders"] = object{"useDefault": false, "overrides": []any{object{"method": "popup", "minutes": 10}}}
		e.data["hangoutLink"] = "https://meet.google.com/abc-defg-hij"
		e.data["visibility"], e.data["transparency"] = "private", "transparent"
		e.data["attachments"] = []any{object{"fileUrl": "https://drive.google.com/open?id=7", "title": "Agenda"}}
	}
	if n%4 == 0 {
		e.data["recurrence"] = []any{"RRULE:FREQ=WEEKLY;COUNT=20", exception(e.data["start"].(object))}
	}
	c.events = append(c.events, e)
	g.touch(e)
	return e
}

// exception is the line that takes the second week out of a series.
func exception(start object) string {
	if day, whole := start["date"].(string); whole {
		t, _ := time.Parse(time.DateOnly, day) // it was made so
		return "EXDATE;VALUE=DATE:" + t.AddDate(0, 0, 7).Format("20060102")
	}
	t, _ := time.Parse(time.RFC3339, start["dateTime"].(string))
	if loc, err := time.LoadLocation(start["timeZone"].(string)); err == nil {
		t = t.In(loc)
	}
	return fmt.Sprintf("EXDATE;TZID=%s:%s", start["timeZone"], t.AddDate(0, 0, 7).Format("20060102T150405"))
}

// at is a time as the API shows it: with the offset of its zone, and its name.
func at(t time.Time, zone string) object {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		loc, zone = time.UTC, "UTC" // a machine without the names of zones
	}
	return object{"dateTime": t.In(loc).Format(time.RFC3339), "timeZone": zone}
}

// changeOccurrence moves an occurrence of a series, or takes it out.
func (g *Google) changeOccurrence(c *calendar, void bool) *event {
	var all []*event
	for _, e := range c.events {
		if !e.gone && e.data["recurrence"] != nil {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil
	}
	series := all[g.choice.IntN(len(all))]
	series.times++
	first := series.data["start"].(object)
	original := maps.Clone(first)
	stamp := ""
	if day, whole := first["date"].(string); whole {
		t, _ := time.Parse(time.DateOnly, day)
		original["date"] = t.AddDate(0, 0, 7*(series.times+1)).Format(time.DateOnly)
		stamp = strings.ReplaceAll(original["date"].(string), "-", "")
	} else {
		t, _ := time.Parse(time.RFC3339, first["dateTime"].(string))
		loc, err := time.LoadLocation(first["timeZone"].(string))
		if err != nil {
			loc = time.UTC
		}
		t = t.In(loc).AddDate(0, 0, 7*(series.times+1))
		original["dateTime"] = t.Format(time.RFC3339)
		stamp = t.UTC().Format("20060102T150405Z")
	}
	e := &event{id: series.id + "_" + stamp, series: series, void: void, data: maps.Clone(series.data)}
	delete(e.data, "recurrence")
	e.data["recurringEventId"], e.data["originalStartTime"] = series.id, original
	e.data["summary"] = fmt.Sprint(series.data["summary"], " (moved)")
	c.events = append(c.events, e)
	g.touch(e)
	return e
}

func (e *event) object() object {
	switch {
	case e.void:
		return object{"kind": "calendar#event", "etag": `"2"`, "id": e.id, "status": "cancelled", "recurringEventId": e.series.id, "originalStartTime": e.data["originalStartTime"]}
	case e.gone:
		return object{"kind": "calendar#event", "etag": `"3"`, "id": e.id, "status": "cancelled"}
	}
	o := maps.Clone(e.data)
	o["id"], o["status"] = e.id, "confirmed"
	return o
}

// listed tells whether a list of everything has it.
func (e *event) listed() bool { return !e.gone && (e.series == nil || !e.series.gone) }

func (g *Google) find(r *http.Request) *calendar {
	for i, c := range g.calendars {
		if id := r.PathValue("calendar"); !c.gone && (c.id == id || i == 0 && id == "primary") {
			return c
		}
	}
	return nil
}

func missing() answer { return refuse(404, "global", "notFound", "Not Found") }

func (c *calendar) object(own bool) object {
	o := object{"kind": "calendar#calendarListEntry", "etag": `"4"`, "id": c.id, "summary": c.summary, "timeZone": c.zone, "colorId": "14", "backgroundColor": "#9fe1e7", "selected": !c.hidden,
		"accessRole": c.role, "defaultReminders": []any{}}
	if own {
		o["primary"] = true
	}
	if c.hidden {
		o["hidden"], o["summaryOverride"], o["description"] = true, c.summary+" as I call it", "not shown"
	}
	return o
}

func (g *Google) serveCalendars(r *http.Request) answer {
	var all []listed
	for i, c := range g.calendars {
		all = append(all, listed{seq: 0, there: !c.gone && (!c.hidden || r.URL.Query().Get("showHidden") == "true"), data: func() object { return c.object(i == 0) }})
	}
	return g.page(r, "calendarList", "maxResults", 250, "items", all, badParameter, missing())
}

func badParameter(name string) answer {
	return refuse(400, "global", "invalid", "Invalid value for "+name)
}

func (g *Google) serveEntry(r *http.Request) answer {
	c := g.find(r)
	if c == nil {
		return missing()
	}
	return ok(c.object(c == g.calendars[0]))
}

func (g *Google) serveCalendar(r *http.Request) answer {
	c := g.find(r)
	if c == nil {
		return missing()
	}
	return ok(object{"kind": "calendar#calendar", "etag": `"5"`, "id": c.id, "summary": c.summary, "timeZone": c.zone})
}

func (g *Google) serveEvents(r *http.Request) answer {
	c := g.find(r)
	switch {
	case c == nil:
		return missing()
	case c.role == "freeBusyReader":
		return refuse(403, "global", "forbidden", "Forbidden")
	}
	var all []listed
	for _, e := range c.events {
		all = append(all, listed{e.seq, e.listed(), e.object})
	}
	return g.page(r, "events "+c.id, "maxResults", 2500, "items", all, badParameter, refuse(410, "calendar", "fullSyncRequired", "Sync token is no longer valid, a full sync is required."))
}

// calendarOperations are the mutations of calendars; each changes one thing.
var calendarOperations = map[string]func(g *Google, c *calendar) string{
	"add_events": func(g *Google, c *calendar) string { return g.addEvent(c).id },
	"edit_events": func(g *Google, c *calendar) string {
		return g.change(c, single, func(e *event) { e.data["summary"] = fmt.Sprintf("Edited at %d", g.seq) })
	},
	"delete_events": func(g *Google, c *calendar) string {
		return g.change(c, func(e *event) bool { return single(e) && e.data["recurrence"] == nil }, func(e *event) { e.gone = true })
	},
	"move_occurrences": func(g *Google, c *calendar) string { return name(g.changeOccurrence(c, false)) },
	"void_occurrences": func(g *Google, c *calendar) string { return name(g.changeOccurrence(c, true)) },
	// An occurrence that was moved does not take place after all.
	"void_moved": func(g *Google, c *calendar) string {
		return g.change(c, func(e *event) bool { return e.series != nil && !e.void && e.listed() }, func(e *event) { e.void = true })
	},
	"delete_series": func(g *Google, c *calendar) string {
		return g.change(c, func(e *event) bool { return single(e) && e.data["recurrence"] != nil && e.times > 0 }, func(series *event) {
			series.gone = true
			for _, e := range c.events {
				if e.series == series && g.lastID%2 == 0 { // told one by one
					e.void = true
					g.touch(e)
				}
			}
			g.lastID++
		})
	},
	"rename_calendars": func(g *Google, c *calendar) string {
		c.summary = fmt.Sprintf("Renamed at %d", g.seq)
		return c.id
	},
	"drop_calendars": func(g *Google, c *calendar) string {
		if c == g.calendars[0] {
			return ""
		}
		c.gone = true
		return c.id
	},
	"add_calendars": func(g *Google, _ *calendar) string { return g.addCalendar().id },
}

func name(e *event) string {
	if e == nil {
		return ""
	}
	return e.id
}

// single tells whether it is an event of its own that is there.
func single(e *event) bool { return !e.gone && e.series == nil }

// change changes one of the eligible events.
func (g *Google) change(c *calendar, eligible func(*event) bool, change func(*event)) string {
	var pool []*event
	for _, e := range c.events {
		if eligible(e) {
			pool = append(pool, e)
		}
	}
	if len(pool) == 0 {
		return ""
	}
	e := pool[g.choice.IntN(len(pool))]
	change(e)
	g.touch(e)
	return e.id
}

// Streams of [Google.Truth] that calendars make.
const (
	StreamCalendars = "calendars"
	StreamEvents    = "events"
)

// calendarTruth tells what calendars and events there are, as the API serves them. An event is told with its calendar
// and with its time as a text of its own. Those of a calendar that shows only free and busy cannot be had.
func (g *Google) calendarTruth(add func(stream, key string, data object, deleted bool)) {
	for i, c := range g.calendars {
		add(StreamCalendars, c.id, c.object(i == 0), c.gone)
		if c.role == "freeBusyReader" {
			continue
		}
		for _, e := range c.events {
			o := e.object()
			start, _ := o["start"].(object)
			if start == nil {
				start, _ = o["originalStartTime"].(object)
			}
			text := ""
			for _, name := range []string{"date", "dateTime"} {
				if s, is := start[name].(string); is {
					text = s
				}
			}
			key := string(providersim.EncodeJSON([]string{c.id, e.id}))
			add(StreamEvents, key, object{"calendar_id": c.id, "start": text, "event": o}, c.gone || !e.listed())
		}
	}
}

// living are the calendars that are in the list and whose events can be read.
func (g *Google) living() []*calendar {
	return slices.DeleteFunc(slices.Clone(g.calendars), func(c *calendar) bool { return c.gone || c.role == "freeBusyReader" })
}
