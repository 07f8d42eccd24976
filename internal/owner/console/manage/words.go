package manage

import (
	"strings"
	"time"
)

const dateForm = "2006-01-02"

// parseDate reads what a date input sends, in the zone of the page. Empty is nil.
func parseDate(text string, zone *time.Location) (*time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	day, err := time.ParseInLocation(dateForm, text, zone)
	if err != nil {
		return nil, err
	}
	return &day, nil
}

// endOf is the moment at which a day is over.
func endOf(day *time.Time) *time.Time {
	if day == nil {
		return nil
	}
	next := day.AddDate(0, 0, 1)
	return &next
}

// longDay is a day in words, in the zone of now: "9 March 2026".
func longDay(t, now time.Time) string { return t.In(now.Location()).Format("2 January 2006") }

// lastDay is the last whole day before an end that is not included.
func lastDay(end, now time.Time) string { return longDay(end.Add(-time.Nanosecond), now) }

// shortMoment is a moment for a narrow column: the time today, else the day, else the
// month of another year.
func shortMoment(t, now time.Time) string {
	t = t.In(now.Location())
	switch {
	case t.Format(dateForm) == now.Format(dateForm):
		return t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan")
	default:
		return t.Format("Jan 2006")
	}
}
