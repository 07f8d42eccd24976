package google

import (
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

var (
	sampleZones = []string{"Europe/Stockholm", "America/New_York", "Asia/Kolkata"}
	accessRoles = []string{"owner", "reader", "writer", "freeBusyReader"}
)

// idEncoding is that of Google's ids.
var idEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

func (g *Google) nextObjectID() string {
	n := g.NextID()
	b := binary.BigEndian.AppendUint64(nil, uint64(n)*11400714819323198485)
	return idEncoding.EncodeToString(append(b, byte(n), byte(g.cfg.Seed)))
}

// addEvent adds an event to a calendar, or an occurrence to its series. Its id comes from its data.
func (g *Google) addEvent(c *rest.Row, e *rest.Row) *rest.Row {
	g.touchEvent(g.Add(c.ID, e))
	return e
}

// touchEvent changes an event a minute later.
func (g *Google) touchEvent(e *rest.Row) {
	g.Touch(e)
	e.Data["updated"] = g.Advance(time.Minute).Format("2006-01-02T15:04:05.000Z")
}

// addCalendar adds a calendar; its events are a collection with its id.
func (g *Google) addCalendar() *rest.Row {
	n := len(g.Rows[StreamCalendars])
	c := &rest.Row{ID: fmt.Sprintf("c_%s@group.calendar.google.com", g.nextObjectID()),
		Data: jsonObject{"kind": "calendar#calendarListEntry", "etag": `"4"`, "summary": fmt.Sprintf("Calendar %d", n),
			"timeZone": sampleZones[n%len(sampleZones)], "colorId": "14", "backgroundColor": "#9fe1e7", "selected": n != 2,
			"accessRole": accessRoles[n%len(accessRoles)], "defaultReminders": []any{}}}
	switch n {
	case 0:
		c.ID, c.Data["summary"], c.Data["primary"] = g.mail, g.mail, true
	case 1:
		c.ID = "sv.swedish#holiday@group.v.calendar.google.com"
	case 2:
		c.Data["hidden"], c.Data["description"] = true, "not shown"
	}
	g.Add(StreamCalendars, c)
	for range g.cfg.Events {
		g.newEvent(c)
	}
	for range g.cfg.Events / 8 {
		g.changeOccurrence(c, false)
		g.changeOccurrence(c, true)
	}
	return c
}

// newEvent adds an event; every fourth is a series, every fifth has no time, and every sixth has guests.
func (g *Google) newEvent(c *rest.Row) *rest.Row {
	n, zone := len(g.Rows[c.ID]), c.Data["timeZone"].(string)
	e := &rest.Row{ID: g.nextObjectID()}
	begin := g.Clock().AddDate(0, 0, n%90-30)
	e.Data = jsonObject{
		"kind": "calendar#event", "etag": `"1"`, "iCalUID": e.ID + "@google.com", "summary": fmt.Sprintf("Meeting %d", n),
		"created": "2026-01-05T09:30:00.000Z", "sequence": n % 3,
		"htmlLink": "https://www.google.com/calendar/event?eid=" + e.ID, "creator": jsonObject{"email": g.mail, "self": true},
		"organizer": jsonObject{"email": g.mail, "displayName": "Alba", "self": true}, "eventType": "default",
		"reminders": jsonObject{"useDefault": true},
		"start":     wireTime(begin, zone), "end": wireTime(begin.Add(45*time.Minute), zone),
	}
	if n%5 == 1 {
		e.Data["start"], e.Data["end"] = jsonObject{"date": begin.Format(time.DateOnly)},
			jsonObject{"date": begin.AddDate(0, 0, 1).Format(time.DateOnly)}
	}
	if n%6 == 2 {
		e.Data["attendees"] = []any{jsonObject{"email": "bo@example.com", "displayName": "Bo",
			"responseStatus": "needsAction"},
			jsonObject{"email": g.mail, "self": true, "optional": true, "responseStatus": "accepted"}}
		e.Data["location"], e.Data["description"] = "Room 5", "Bring <b>tea</b>"
		e.Data["reminders"] = jsonObject{"useDefault": false,
			"overrides": []any{jsonObject{"method": "popup", "minutes": 10}}}
		e.Data["hangoutLink"] = "https://meet.google.com/abc-defg-hij"
		e.Data["visibility"], e.Data["transparency"] = "private", "transparent"
		e.Data["attachments"] = []any{jsonObject{"fileUrl": "https://drive.google.com/open?id=7", "title": "Agenda"}}
	}
	if n%4 == 0 {
		e.Data["recurrence"] = []any{"RRULE:FREQ=WEEKLY;COUNT=20", exclusionLine(e.Data["start"].(jsonObject))}
	}
	return g.addEvent(c, e)
}

// exclusionLine returns the line that excludes the second week of a series.
func exclusionLine(start jsonObject) string {
	if day, whole := start["date"].(string); whole {
		t, _ := time.Parse(time.DateOnly, day) // it was made so
		return "EXDATE;VALUE=DATE:" + t.AddDate(0, 0, 7).Format("20060102")
	}
	return fmt.Sprintf("EXDATE;TZID=%s:%s", start["timeZone"],
		localTime(start).AddDate(0, 0, 7).Format("20060102T150405"))
}

// localTime is a time of the API in its zone.
func localTime(start jsonObject) time.Time {
	t, _ := time.Parse(time.RFC3339, start["dateTime"].(string)) // it was made so
	if loc, err := time.LoadLocation(start["timeZone"].(string)); err == nil {
		return t.In(loc)
	}
	return t.UTC()
}

// wireTime is a time as the API shows it: with the offset of its zone, and its name.
func wireTime(t time.Time, zone string) jsonObject {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		loc, zone = time.UTC, "UTC" // a machine without the names of zones
	}
	return jsonObject{"dateTime": t.In(loc).Format(time.RFC3339), "timeZone": zone}
}

// occurrences returns the changed occurrences of a series.
func (g *Google) occurrences(c, series *rest.Row) []*rest.Row {
	return rest.Filter(g.Rows[c.ID], func(e *rest.Row) bool { return e.Parent == series })
}

// changeOccurrence moves an occurrence of a series, or takes it out.
func (g *Google) changeOccurrence(c *rest.Row, void bool) string {
	series := rest.Pick(g.Service, g.Live(c.ID), func(e *rest.Row) bool { return e.Data["recurrence"] != nil })
	if series == nil {
		return ""
	}
	first, stamp := series.Data["start"].(jsonObject), ""
	original, days := maps.Clone(first), 7*(len(g.occurrences(c, series))+2)
	if day, whole := first["date"].(string); whole {
		t, _ := time.Parse(time.DateOnly, day) // it was made so
		t = t.AddDate(0, 0, days)
		original["date"], stamp = t.Format(time.DateOnly), t.Format("20060102")
	} else {
		t := localTime(first).AddDate(0, 0, days)
		original["dateTime"], stamp = t.Format(time.RFC3339), t.UTC().Format("20060102T150405Z")
	}
	e := &rest.Row{ID: series.ID + "_" + stamp, Parent: series, Data: maps.Clone(series.Data)}
	delete(e.Data, "recurrence")
	e.Data["recurringEventId"], e.Data["originalStartTime"], e.Data["void"] = series.ID, original, void
	e.Data["summary"] = fmt.Sprint(series.Data["summary"], " (moved)")
	return g.addEvent(c, e).ID
}

// renderEvent returns an event as the API serves it. An occurrence that does not take place has few members.
func renderEvent(e *rest.Row) jsonObject {
	switch {
	case e.Data["void"] == true:
		return jsonObject{"kind": "calendar#event", "etag": `"2"`, "id": e.ID, "status": "cancelled",
			"recurringEventId": e.Parent.ID, "originalStartTime": e.Data["originalStartTime"]}
	case e.Gone:
		return jsonObject{"kind": "calendar#event", "etag": `"3"`, "id": e.ID, "status": "cancelled"}
	}
	o := maps.Clone(e.Data)
	delete(o, "void")
	o["id"], o["status"] = e.ID, "confirmed"
	return o
}

// isListed reports whether a full list has an event.
func isListed(e *rest.Row) bool { return !e.Gone && (e.Parent == nil || !e.Parent.Gone) }

func (g *Google) findCalendar(r *http.Request) *rest.Row {
	id := r.PathValue("calendar")
	if id == "primary" {
		id = g.mail
	}
	return g.Find(StreamCalendars, id)
}

func (g *Google) renderEntry(c *rest.Row) jsonObject {
	o := maps.Clone(c.Data)
	if o["id"] = c.ID; o["hidden"] == true {
		o["summaryOverride"] = c.Data["summary"].(string) + " as I call it"
	}
	return o
}

// onCalendar serves an object about one calendar.
func (g *Google) onCalendar(show func(*rest.Row) jsonObject) func(*http.Request) rest.Answer {
	return func(r *http.Request) rest.Answer {
		if c := g.findCalendar(r); c != nil {
			return rest.OK(show(c))
		}
		return g.Refuse(r, rest.NotFound, "")
	}
}

func (g *Google) serveCalendars(r *http.Request) rest.Answer {
	return g.serveRows(r, rest.Pager{Size: "maxResults", Most: 250, Items: "items"}, StreamCalendars,
		func(c *rest.Row) bool { return c.Data["hidden"] == nil || r.URL.Query().Get("showHidden") == "true" },
		g.renderEntry)
}

func (g *Google) serveEvents(r *http.Request) rest.Answer {
	c := g.findCalendar(r)
	switch {
	case c == nil:
		return g.Refuse(r, rest.NotFound, "")
	case !isReadable(c):
		return calendarError(403, "global", "forbidden", "Forbidden")
	}
	return g.serveRows(r, rest.Pager{Size: "maxResults", Most: 2500, Items: "items", Since: "syncToken",
		Sync: "nextSyncToken"}, c.ID, isListed, renderEvent)
}

// isReadable reports whether the events of a calendar can be read.
func isReadable(c *rest.Row) bool { return c.Data["accessRole"] != "freeBusyReader" }

// calendarOperations are the mutations of calendars; each changes one object of a random calendar.
func (g *Google) calendarOperations() map[string]func() string {
	in := func(operate func(c *rest.Row) string) func() string {
		return rest.Edit(g.Service, func() []*rest.Row { return g.Live(StreamCalendars) }, isReadable, operate)
	}
	edit := func(fits func(c, e *rest.Row) bool, change func(c, e *rest.Row)) func() string {
		return in(func(c *rest.Row) string {
			return g.Change(c.ID, func(e *rest.Row) bool { return isListed(e) && fits(c, e) },
				func(e *rest.Row) { change(c, e); g.touchEvent(e) })
		})
	}
	return map[string]func() string{
		"add_events": in(func(c *rest.Row) string { return g.newEvent(c).ID }),
		"edit_events": edit(func(_, e *rest.Row) bool { return e.Parent == nil },
			func(_, e *rest.Row) { e.Data["summary"] = fmt.Sprintf("Edited at %d", g.Seq) }),
		"delete_events": edit(func(_, e *rest.Row) bool { return e.Parent == nil && e.Data["recurrence"] == nil },
			func(_, e *rest.Row) { e.Gone = true }),
		"move_occurrences": in(func(c *rest.Row) string { return g.changeOccurrence(c, false) }),
		"void_occurrences": in(func(c *rest.Row) string { return g.changeOccurrence(c, true) }),
		// An occurrence that was moved does not take place after all.
		"void_moved": edit(func(_, e *rest.Row) bool { return e.Data["void"] == false },
			func(_, e *rest.Row) { e.Data["void"] = true }),
		// The occurrences of every second series are reported one by one.
		"delete_series": edit(func(c, e *rest.Row) bool {
			return e.Data["recurrence"] != nil && len(g.occurrences(c, e)) > 0
		}, func(c, series *rest.Row) {
			if series.Gone = true; g.NextID()%2 == 0 {
				return
			}
			for _, e := range g.occurrences(c, series) {
				e.Data["void"] = true
				g.touchEvent(e)
			}
		}),
		"rename_calendars": in(func(c *rest.Row) string {
			c.Data["summary"] = fmt.Sprintf("Renamed at %d", g.Seq)
			return c.ID
		}),
		"drop_calendars": func() string {
			return g.Delete(StreamCalendars, func(c *rest.Row) bool { return c.N > 0 && isReadable(c) })
		},
		"add_calendars": func() string { return g.addCalendar().ID },
	}
}

// Streams of the ground truth that calendars make.
const (
	StreamCalendars = "calendars"
	StreamEvents    = "events"
)

// calendarTruth adds the calendars and events that exist, as the API serves them. An event includes its calendar and
// its time as text. Events of a free/busy calendar cannot be read.
func (g *Google) calendarTruth(add rest.AddTruth) {
	for _, c := range g.Rows[StreamCalendars] {
		add(StreamCalendars, c.ID, g.renderEntry(c), c.Gone)
		if !isReadable(c) {
			continue
		}
		for _, e := range g.Rows[c.ID] {
			o := renderEvent(e)
			start, _ := o["start"].(jsonObject)
			if start == nil {
				start, _ = o["originalStartTime"].(jsonObject)
			}
			text := ""
			for _, name := range []string{"date", "dateTime"} {
				if s, is := start[name].(string); is {
					text = s
				}
			}
			key := string(providersim.EncodeJSON([]string{c.ID, e.ID}))
			add(StreamEvents, key, jsonObject{"calendar_id": c.ID, "start": text, "event": o}, c.Gone || !isListed(e))
		}
	}
}
