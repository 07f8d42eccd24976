package occurrences

import (
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

const (
	// mostOfSeries limits how many times a rule may produce up to the end of the requested span.
	mostOfSeries = 50_000
	// longestInterval is more than any rule means; larger numbers are for breaking programs.
	longestInterval = 10_000
	// cycle is after how many years the days of the calendar repeat.
	cycle = 400
)

// Reasons for which a series is not computed.
const (
	reasonRule  = "its rule cannot be read"
	reasonOften = "it repeats more often than daily"
	reasonMany  = "its rule has too many dates"
	reasonZone  = "its time zone is not known by that name"
	reasonMinus = "it has a rule of exceptions"
	reasonLater = "an occurrence and all after it were changed together"
)

// times returns the start times of a series up to the local time until. If they cannot be computed, it returns the
// reason.
func (e *CalendarEvent) times(s span, until time.Time, budget *int) (walls []time.Time, reason string) {
	if len(e.ExceptRules) > 0 {
		return nil, reasonMinus
	}
	if s.wall.After(until) {
		return nil, ""
	}
	except := moments{}
	for _, text := range e.Except {
		if !except.add(s, text) {
			return nil, reasonRule
		}
	}
	met := map[time.Time]bool{}
	put := func(wall time.Time) {
		if !met[wall] && !except.has(s, wall) {
			met[wall] = true
			walls = append(walls, wall)
		}
	}
	if e.Rule == "" {
		put(s.wall)
	}
	for line := range strings.Lines(e.Rule) {
		if reason := rule(strings.TrimSpace(line), s, until, budget, put); reason != "" {
			return nil, reason
		}
	}
	for _, text := range e.Dates {
		extra := moments{}
		if !extra.add(s, text) {
			return nil, reasonRule
		}
		for wall := range extra {
			put(wall)
		}
	}
	return walls, ""
}

// rule passes the times of one rule to put. It shifts the computation by a multiple of the calendar cycle, close to
// the library's last year. There the library soon stops searching for a rule that never matches.
func rule(text string, s span, until time.Time, budget *int, put func(time.Time)) (reason string) {
	option, err := rrule.StrToROption(text)
	switch {
	case err != nil || option.Interval > longestInterval || len(option.Byeaster) > 0 || !option.Dtstart.IsZero() ||
		!ordinal(option):
		return reasonRule
	case option.Freq == rrule.HOURLY || option.Freq == rrule.MINUTELY || option.Freq == rrule.SECONDLY:
		return reasonOften
	}
	ahead := (rrule.MAXYEAR - until.Year()) / cycle * cycle
	option.Dtstart = s.wall.AddDate(ahead, 0, 0)
	if !option.Until.IsZero() {
		last, ok := lastOf(text, s)
		if !ok || !sane(last) {
			return reasonRule
		}
		option.Until = last.AddDate(ahead, 0, 0)
	}
	r, err := rrule.NewRRule(*option)
	if err != nil {
		return reasonRule
	}
	next := r.Iterator()
	for range mostOfSeries {
		if *budget--; *budget < 0 {
			return reasonMany
		}
		at, more := next()
		if at = at.AddDate(-ahead, 0, 0); !more || at.After(until) {
			return ""
		}
		put(at)
	}
	return reasonMany
}

// ordinal reports whether a month or a year can have the ordinal days of a rule, such as the second Monday.
func ordinal(o *rrule.ROption) bool {
	most := 5
	if o.Freq == rrule.YEARLY && len(o.Bymonth) == 0 {
		most = 53
	}
	for _, day := range o.Byweekday {
		if n := day.N(); n > most || n < -most {
			return false
		}
	}
	return true
}

// lastOf is what a rule has as UNTIL, on the wall of its series. A day is all of it.
func lastOf(rule string, s span) (time.Time, bool) {
	for part := range strings.SplitSeq(strings.ToUpper(rule), ";") {
		value, is := strings.CutPrefix(strings.TrimSpace(part), "UNTIL=")
		if !is {
			continue
		}
		if at, err := time.Parse("20060102", value); err == nil {
			return at.Add(24*time.Hour - time.Second), true
		}
		if at, err := time.Parse("20060102T150405Z", value); err == nil {
			if s.day {
				return at, true
			}
			return onWall(at.In(s.where)), true
		}
		at, err := time.Parse("20060102T150405", value)
		return at, err == nil
	}
	return time.Time{}, false
}

// moments are times of a wall that were written down; true means the whole day.
type moments map[time.Time]bool

// add parses a list of times in calendar syntax: 20260305T100000Z, TZID=Europe/Madrid:20260305T100000, or 20260305.
// Of a period it uses the start.
func (m moments) add(s span, text string) bool {
	where := s.where
	if zone, rest, named := strings.Cut(text, ":"); named {
		name, is := strings.CutPrefix(zone, "TZID=")
		found, err := time.LoadLocation(strings.Trim(name, `"/ `))
		if !is || err != nil {
			return false
		}
		where, text = found, rest
	}
	for value := range strings.SplitSeq(text, ",") {
		value, _, _ = strings.Cut(strings.ToUpper(strings.TrimSpace(value)), "/")
		if value == "" {
			continue
		}
		if day, err := time.Parse("20060102", value); err == nil && sane(day) {
			m[day] = true
			continue
		}
		wall, utc := strings.CutSuffix(value, "Z")
		at, err := time.Parse("20060102T150405", wall)
		if err != nil || !sane(at) {
			return false
		}
		if !utc {
			at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, where)
		}
		m.put(s, at)
	}
	return true
}

// put notes an instant.
func (m moments) put(s span, at time.Time) {
	if s.day {
		m[onWall(at).Truncate(24*time.Hour)] = true
		return
	}
	m.note(onWall(at.In(s.where)))
}

// note notes a time of the wall; a day that is noted stays one.
func (m moments) note(wall time.Time) {
	if !m[wall] {
		m[wall] = false
	}
}

// has reports whether the set contains a local time, or the whole day of that time.
func (m moments) has(s span, wall time.Time) bool {
	if _, is := m[wall]; is {
		return true
	}
	return m[wall.Truncate(24*time.Hour)]
}
