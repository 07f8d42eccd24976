package browse

import (
	"strconv"
	"time"
)

// monthCalendar is the month of a day, in weeks from Monday to Sunday. Days with things are links.
type monthCalendar struct {
	Name  string
	Weeks [][]monthDay
}

// monthDay is one day. A day of another month has no number.
type monthDay struct {
	Number  string
	Class   string // by how many things
	Title   string
	Address string // empty if nothing is kept of the day
	Current bool
}

// monthOf draws the month of the page's day, as counted by days of UTC.
func (c *calendar) monthOf() *monthCalendar {
	day := c.page.Day
	first := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	counts, most := map[int]int64{}, int64(1)
	for s, days := range c.days {
		if !s.Happens() || !c.page.shows(s) {
			continue
		}
		for _, d := range days {
			if d.from.Year() == first.Year() && d.from.Month() == first.Month() {
				counts[d.from.Day()] += d.records
				most = max(most, counts[d.from.Day()])
			}
		}
	}
	out := &monthCalendar{Name: day.Format("January 2006")}
	week := make([]monthDay, 0, 7)
	for range (int(first.Weekday()) + 6) % 7 {
		week = append(week, monthDay{})
	}
	for at := first; at.Month() == first.Month(); at = at.AddDate(0, 0, 1) {
		one := monthDay{Number: strconv.Itoa(at.Day()), Class: "h0", Current: at.Day() == day.Day()}
		if n := counts[at.Day()]; n > 0 {
			to := c.page.choice
			to.record, to.day = "", at.Format(time.DateOnly)
			one.Class, one.Address = "h"+strconv.FormatInt(1+n*3/(most+1), 10), to.address()
			one.Title = at.Format("Monday 2 January 2006") + ", " + counted(n)
		}
		if week = append(week, one); len(week) == 7 {
			out.Weeks, week = append(out.Weeks, week), make([]monthDay, 0, 7)
		}
	}
	if len(week) > 0 {
		for len(week) < 7 {
			week = append(week, monthDay{})
		}
		out.Weeks = append(out.Weeks, week)
	}
	return out
}
