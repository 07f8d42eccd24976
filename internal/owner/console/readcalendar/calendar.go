// Package readcalendar draws when apps read, as weeks of days.
package readcalendar

import (
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	weeks   = 12
	inAWeek = 7
	// cell is the size of a day with its margin, and shades how many colours days with reads have.
	cell   = 18
	shades = 4
)

// Calendar is when one app read in the last twelve weeks.
type Calendar struct {
	Cells         []Cell
	Label         string
	Reads, Recent int64 // in all, and of the last seven days
	Refused       int64
	Last          *time.Time
}

// Cell is one day.
type Cell struct {
	Class, X, Y, Title string
}

// Since returns the first day of the calendars of now, a Monday.
func Since(now time.Time) time.Time {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	monday := today.AddDate(0, 0, -(int(today.Weekday())+inAWeek-1)%inAWeek)
	return monday.AddDate(0, 0, -(weeks-1)*inAWeek)
}

// All draws a calendar for each grant that has entries, by the id of the grant.
func All(entries []api.AuditEntry, now time.Time) map[string]*Calendar {
	days := map[string]map[string]int64{}
	out := map[string]*Calendar{}
	week := now.AddDate(0, 0, -inAWeek)
	for _, e := range entries {
		if e.Actor.Kind != "grant" {
			continue
		}
		c := out[e.Actor.ID]
		if c == nil {
			c = &Calendar{}
			out[e.Actor.ID], days[e.Actor.ID] = c, map[string]int64{}
		}
		if e.Outcome != "done" {
			c.Refused += e.Times
			continue
		}
		if c.Last == nil || e.LastAt.After(*c.Last) {
			c.Last = &e.LastAt
		}
		c.Reads += e.Times
		if e.LastAt.After(week) {
			c.Recent += e.Times
		}
		days[e.Actor.ID][e.LastAt.In(now.Location()).Format(time.DateOnly)] += e.Times
	}
	for id, c := range out {
		c.draw(days[id], now)
	}
	return out
}

// Empty is the calendar of a grant without entries.
func Empty(now time.Time) *Calendar {
	c := &Calendar{}
	c.draw(nil, now)
	return c
}

func (c *Calendar) draw(days map[string]int64, now time.Time) {
	var most int64 = 1
	for _, n := range days {
		most = max(most, n)
	}
	today := now.Format(time.DateOnly)
	for i, at := 0, Since(now); i < weeks*inAWeek; i, at = i+1, at.AddDate(0, 0, 1) {
		day := at.Format(time.DateOnly)
		if day > today {
			break
		}
		n := days[day]
		class := "h0"
		if n > 0 {
			class = "h" + strconv.FormatInt(min(shades, 1+(n-1)*shades/most), 10)
		}
		c.Cells = append(c.Cells, Cell{Class: class, X: strconv.Itoa(i / inAWeek * cell), Y: strconv.Itoa(i % inAWeek * cell),
			Title: at.Format("2 January") + ": " + text.Count(n, "read", "reads")})
	}
	c.Label = "Reads a day in the last 12 weeks: " + text.Count(c.Reads, "read", "reads") + " in all"
}
