package icalendar

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // so that a zone is known on a machine that has no database of them

	"github.com/pdpp-go/pdpp/connectorkit/contentline"
)

// zoneResolver finds what a name of a zone means: in the database of zones, among the names
// of Windows, or by the rules in the calendar.
type zoneResolver struct {
	known map[string]*time.Location // nil where nothing is known
	rules map[string][]zoneTransition
	named map[string]string // database names that a calendar declares for its zones
}

func newZoneResolver() *zoneResolver {
	return &zoneResolver{known: map[string]*time.Location{}, rules: map[string][]zoneTransition{},
		named: map[string]string{}}
}

// learnZones takes over the zones that a calendar describes.
func (z *zoneResolver) learnZones(cal *contentline.Component) {
	for _, c := range cal.Children {
		name := c.Get("TZID").Value
		if c.Name != "VTIMEZONE" || name == "" {
			continue
		}
		z.named[name] = c.Get("X-LIC-LOCATION").Value
		for _, part := range c.Children {
			if t, ok := readTransition(part); ok && len(z.rules[name]) < maxTransitions {
				z.rules[name] = append(z.rules[name], t)
			}
		}
	}
}

// timeInZone puts a time of the wall into a zone; false leaves it in UTC.
func (z *zoneResolver) timeInZone(name string, wall time.Time) (time.Time, bool) {
	where, tried := z.known[name]
	if !tried {
		where = lookupLocation(name)
		if where == nil && len(z.rules[name]) == 0 {
			where = lookupLocation(z.named[name])
		}
		z.known[name] = where
	}
	if where != nil {
		return time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, where), true
	}
	if offset, ok := zoneOffsetAt(z.rules[name], wall); ok {
		return wall.Add(-offset).In(time.FixedZone("", int(offset/time.Second))), true
	}
	return wall, false
}

// lookupLocation looks a name up, with the prefixes that programs put before it.
func lookupLocation(name string) *time.Location {
	name = strings.Trim(name, `"/ `)
	if iana, ok := windowsZones[name]; ok {
		name = iana
	}
	parts := strings.Split(name, "/")
	for _, from := range []int{0, len(parts) - 3, len(parts) - 2} {
		if from < 0 || from >= len(parts) {
			continue
		}
		short := strings.Join(parts[from:], "/")
		if short == "" || short == "Local" {
			continue
		}
		if where, err := time.LoadLocation(short); err == nil {
			return where
		}
	}
	return nil
}

// zoneTransition is when the clocks of a described zone change, and to what.
type zoneTransition struct {
	from   time.Time // of the wall, the first time
	offset time.Duration
	month  time.Month   // zero: once
	day    time.Weekday // with nth
	nth    int          // 1 the first, -1 the last of the month; zero: on the date of from
	until  int          // last year; zero: for good
}

// maxTransitions bounds what is remembered of one zone.
const maxTransitions = 500

func readTransition(c *contentline.Component) (zoneTransition, bool) {
	from, err := time.Parse("20060102T150405", strings.TrimSuffix(c.Get("DTSTART").Value, "Z"))
	offset, ok := parseOffset(c.Get("TZOFFSETTO").Value)
	if err != nil || !ok || c.Name != "STANDARD" && c.Name != "DAYLIGHT" {
		return zoneTransition{}, false
	}
	t := zoneTransition{from: from, offset: offset}
	rule := map[string]string{}
	for part := range strings.SplitSeq(strings.ToUpper(c.Get("RRULE").Value), ";") {
		if name, value, found := strings.Cut(part, "="); found {
			rule[name] = value
		}
	}
	if rule["FREQ"] != "YEARLY" {
		return t, true
	}
	t.month = from.Month()
	if m, err := strconv.Atoi(rule["BYMONTH"]); err == nil && m >= 1 && m <= 12 {
		t.month = time.Month(m)
	}
	if y, err := strconv.Atoi(rule["UNTIL"][:min(4, len(rule["UNTIL"]))]); err == nil {
		t.until = y
	}
	if day := rule["BYDAY"]; len(day) > 2 {
		weekday := strings.Index("SUMOTUWETHFRSA", day[len(day)-2:])
		nth, err := strconv.Atoi(day[:len(day)-2])
		if err == nil && weekday >= 0 && weekday%2 == 0 && nth != 0 && nth >= -5 && nth <= 5 {
			t.day, t.nth = time.Weekday(weekday/2), nth
		}
	}
	return t, true
}

func parseOffset(text string) (time.Duration, bool) {
	if len(text) < 5 || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	h, err := strconv.Atoi(text[1:3])
	m, err2 := strconv.Atoi(text[3:5])
	if err != nil || err2 != nil || h > 23 || h < 0 || m < 0 || m > 59 {
		return 0, false
	}
	d := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if text[0] == '-' {
		d = -d
	}
	return d, true
}

// transitionIn is the moment of the turn in a year.
func (t zoneTransition) transitionIn(year int) (time.Time, bool) {
	switch {
	case t.month == 0:
		return t.from, true
	case year < t.from.Year(), t.until > 0 && year > t.until:
		return time.Time{}, false
	case t.nth == 0:
		return time.Date(year, t.month, t.from.Day(), t.from.Hour(), t.from.Minute(), 0, 0, time.UTC), true
	}
	day := time.Date(year, t.month, 1, t.from.Hour(), t.from.Minute(), 0, 0, time.UTC)
	if t.nth < 0 {
		day = day.AddDate(0, 1, -1)
		day = day.AddDate(0, 0, -int(day.Weekday()-t.day+7)%7)
		return day.AddDate(0, 0, 7*(t.nth+1)), true
	}
	day = day.AddDate(0, 0, int(t.day-day.Weekday()+7)%7)
	return day.AddDate(0, 0, 7*(t.nth-1)), true
}

// zoneOffsetAt is how far a described zone is from UTC at a time of its wall: by the last turn
// before it, or the first of all.
func zoneOffsetAt(turns []zoneTransition, wall time.Time) (time.Duration, bool) {
	if len(turns) == 0 {
		return 0, false
	}
	best, first := time.Time{}, turns[0]
	offset, found := time.Duration(0), false
	for _, t := range turns {
		if t.from.Before(first.from) {
			first = t
		}
		for _, year := range []int{wall.Year() - 1, wall.Year()} {
			if t.until > 0 {
				year = min(year, t.until)
			}
			if at, ok := t.transitionIn(year); ok && !at.After(wall) && (!found || at.After(best)) {
				best, offset, found = at, t.offset, true
			}
		}
	}
	if !found {
		return first.offset, true
	}
	return offset, true
}
