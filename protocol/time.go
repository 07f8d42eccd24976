package protocol

import (
	"fmt"
	"time"
)

// StoredTime is how times are kept: UTC and of fixed width, so that text order is time order.
const StoredTime = "2006-01-02T15:04:05.000000Z"

// ParseTime reads an RFC 3339 time or a date.
func ParseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not an RFC 3339 time or a date", s)
	}
	return t, nil
}

// SemanticTime reads the time that a record says of itself, and gives it as it is kept.
// Not ok is what is no time, and a time outside the years 1 to 9999 of UTC: it would not
// sort among the others.
func SemanticTime(text string) (at time.Time, stored string, ok bool) {
	at, err := ParseTime(text)
	if err != nil {
		return time.Time{}, "", false
	}
	at = at.UTC()
	if at.Year() < 1 || at.Year() > 9999 {
		return time.Time{}, "", false
	}
	return at, at.Format(StoredTime), true
}
