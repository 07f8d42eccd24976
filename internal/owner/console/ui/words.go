package ui

import "time"

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
