package recordcheck

import "time"

// ParseTimeBound parses a bound or a record's time: RFC 3339 or a date. Empty is an open bound.
func ParseTimeBound(s string) (time.Time, bool) {
	if s == "" {
		return time.Time{}, true
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
