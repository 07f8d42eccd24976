package protocol

import (
	"fmt"
	"time"
)

// StoredTime is the layout of stored times: UTC with fixed width, so that text order is time order.
const StoredTime = "2006-01-02T15:04:05.000000Z"

// ParseTime parses an RFC 3339 time or a date.
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

// SemanticTime parses a record's own time and returns it in the StoredTime layout. It returns false if text is
// not a time, or outside the years 1 to 9999 UTC, where text order would fail.
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
