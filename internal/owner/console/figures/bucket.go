package figures

import "time"

// bucket is a day, week, month or year of a chart.
type bucket struct {
	From, To  time.Time // To is not part of it
	Value     float64
	Low, High float64
	Known     int // days with a value
	Unknown   bool
}

// days counts the days of a bucket.
func (b *bucket) days() int { return int(b.To.Sub(b.From).Round(24*time.Hour) / (24 * time.Hour)) }

// label names a bucket in a table.
func (b *bucket) label(each string) string {
	last := b.To.AddDate(0, 0, -1)
	switch each {
	case "day":
		return b.From.Format("Monday 2 January")
	case "month":
		return b.From.Format("January 2006")
	case "year":
		return b.From.Format("2006")
	}
	if b.From.Month() == last.Month() {
		return b.From.Format("2") + " to " + last.Format("2 January")
	}
	return b.From.Format("2 January") + " to " + last.Format("2 January")
}

// mark names a bucket below a chart.
func (b *bucket) mark(each string) string {
	switch each {
	case "month":
		return b.From.Format("Jan 06")
	case "year":
		return b.From.Format("2006")
	}
	return b.From.Format("2 Jan")
}

// bucketsOf divides the time from one day up to and including another. Weeks end on the last day.
func bucketsOf(first, last time.Time, each string) (out []bucket) {
	end := last.AddDate(0, 0, 1)
	switch each {
	case "week":
		for from := end.AddDate(0, 0, -7); end.After(first); from, end = from.AddDate(0, 0, -7), from {
			out = append([]bucket{{From: from, To: end}}, out...)
		}
		return out
	case "month":
		first = time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, first.Location())
	case "year":
		first = time.Date(first.Year(), 1, 1, 0, 0, 0, 0, first.Location())
	}
	for at := first; at.Before(end); {
		next := at.AddDate(0, 0, 1)
		switch each {
		case "month":
			next = at.AddDate(0, 1, 0)
		case "year":
			next = at.AddDate(1, 0, 0)
		}
		out = append(out, bucket{From: at, To: next})
		at = next
	}
	return out
}
