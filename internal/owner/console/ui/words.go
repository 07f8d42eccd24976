package ui

import (
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// Span writes a length of time short: "12 s", "41 min", "2 h 5 min", "3 days".
func Span(seconds int64) string {
	switch {
	case seconds < 0:
		return "0 s"
	case seconds < minute:
		return strconv.FormatInt(seconds, 10) + " s"
	case seconds < hour:
		return strconv.FormatInt(seconds/minute, 10) + " min"
	case seconds < 2*day:
		line := strconv.FormatInt(seconds/hour, 10) + " h"
		if m := seconds % hour / minute; m > 0 {
			line += " " + strconv.FormatInt(m, 10) + " min"
		}
		return line
	default:
		return text.Count(seconds/day, "day", "days")
	}
}

// Rhythm writes how often something happens: "Every 6 hours".
func Rhythm(seconds int64) string {
	for _, unit := range []struct {
		seconds   int64
		one, many string
	}{{day, "day", "days"}, {hour, "hour", "hours"}, {minute, "minute", "minutes"}} {
		if seconds >= unit.seconds && seconds%unit.seconds == 0 {
			if n := seconds / unit.seconds; n > 1 {
				return "Every " + text.Number(n) + " " + unit.many
			}
			return "Every " + unit.one
		}
	}
	return "Every " + text.Count(max(seconds, 1), "second", "seconds")
}

// Ago writes how long a moment is past: "just now", "5 minutes ago", "2 days ago".
// A moment to come reads as just now: clocks differ a little.
func Ago(t, now time.Time) string {
	seconds := int64(now.Sub(t) / time.Second)
	switch {
	case seconds < minute:
		return "just now"
	case seconds < hour:
		return text.Count(seconds/minute, "minute", "minutes") + " ago"
	case seconds < day:
		return text.Count(seconds/hour, "hour", "hours") + " ago"
	default:
		return text.Count(seconds/day, "day", "days") + " ago"
	}
}

// Moment writes when something is, in the zone of now: today, yesterday and
// tomorrow by name, other days as "9 March 13:00", with the year when it is another.
func Moment(t, now time.Time) string {
	t = t.In(now.Location())
	clock := t.Format("15:04")
	switch daysBetween(t, now) {
	case 0:
		return "today " + clock
	case 1:
		return "yesterday " + clock
	case -1:
		return "tomorrow " + clock
	}
	if t.Year() != now.Year() {
		return t.Format("2 January 2006 15:04")
	}
	return t.Format("2 January 15:04")
}

// Until is the second of two moments, after the first: without the day if it is the same.
func Until(from, to, now time.Time) string {
	if daysBetween(from.In(now.Location()), to.In(now.Location())) == 0 {
		return to.In(now.Location()).Format("15:04")
	}
	return Moment(to, now)
}

// daysBetween counts the midnights from one moment to a later one, by the calendar.
func daysBetween(from, to time.Time) int {
	date := func(t time.Time) time.Time {
		y, m, d := t.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return int(date(to).Sub(date(from)) / (24 * time.Hour))
}
