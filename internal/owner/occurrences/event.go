package occurrences

import (
	"encoding/json"
	"strings"
	"time"
	_ "time/tzdata" // so that a zone is known on a machine that has no database of them
)

// CalendarEvent is a record, with the members that every source of calendars has.
type CalendarEvent struct {
	Key string `json:"-"` // of the record

	ID           string   `json:"id"`
	Calendar     string   `json:"calendar_id"`
	UID          string   `json:"uid"`
	Series       string   `json:"recurring_event_id"` // id of the series, where the source names it
	RecurrenceID string   `json:"recurrence_id"`
	ThisOnwards  bool     `json:"this_and_future"`
	Title        string   `json:"summary"`
	Status       string   `json:"status"`
	Start        string   `json:"start"`
	End          string   `json:"end"`
	TimeKind     string   `json:"time_kind"`
	TimeZone     string   `json:"time_zone"`
	Rule         string   `json:"rrule"`
	Dates        []string `json:"rdates"`
	Except       []string `json:"exdates"`
	ExceptRules  []string `json:"exrules"`
}

// ReadEvent reads a record; false when it is no event with a time.
func ReadEvent(key string, data []byte) (CalendarEvent, bool) {
	e := CalendarEvent{Key: key}
	if json.Unmarshal(data, &e) != nil {
		return CalendarEvent{}, false
	}
	_, _, ok := parse(e.Start)
	return e, ok
}

// repeats reports whether the event is a series.
func (e *CalendarEvent) repeats() bool { return e.Rule != "" || len(e.Dates) > 0 }

func (e *CalendarEvent) cancelled() bool { return strings.EqualFold(e.Status, "cancelled") }

// parse reads a time as records have it: RFC 3339, or a day.
func parse(text string) (at time.Time, day, ok bool) {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, true, sane(at)
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, false, err == nil && sane(at)
}

// sane keeps to years with which can be reckoned.
func sane(at time.Time) bool { return at.Year() >= 1600 && at.Year() <= 9000 }

// span is when an event takes place. wall is the local start time, stored as if it were UTC; where is its time zone.
// An all-day event starts at midnight in the reader's time zone.
type span struct {
	wall   time.Time
	where  *time.Location
	day    bool
	length time.Duration // of a day: whole days
}

// span of an event; false when its zone is known under no name.
func (e *CalendarEvent) span(reader *time.Location) (span, bool) {
	at, day, _ := parse(e.Start)
	s := span{wall: at.UTC(), where: time.UTC, day: day}
	known := true
	switch {
	case day || e.TimeKind == "floating":
		s.where = reader
	case e.TimeZone != "":
		where, err := time.LoadLocation(strings.Trim(e.TimeZone, `"/ `))
		if known = err == nil && e.TimeKind != "unresolved"; known {
			s.where, s.wall = where, onWall(at.In(where))
		}
	}
	if end, _, ok := parse(e.End); ok && end.After(at) {
		s.length = end.Sub(at)
	}
	if day {
		s.length = max(s.length.Truncate(24*time.Hour), 24*time.Hour)
	}
	return s, known
}

// onWall writes what a clock shows as if it were UTC.
func onWall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// instant is when a clock shows a time.
func (s span) instant(wall time.Time) time.Time {
	return time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, s.where)
}

// ends is when an occurrence ends that begins at a time of the wall.
func (s span) ends(wall time.Time) time.Time {
	if s.day {
		return s.instant(wall.Add(s.length))
	}
	return s.instant(wall).Add(s.length)
}

// texts are the times of an occurrence as records have them.
func (s span) texts(wall time.Time) (start, end string) {
	if s.day {
		return wall.Format(time.DateOnly), wall.Add(s.length).Format(time.DateOnly)
	}
	start = s.instant(wall).Format(time.RFC3339)
	if s.length > 0 {
		end = s.ends(wall).Format(time.RFC3339)
	}
	return start, end
}
