package arguments

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// ParseMoment parses an RFC 3339 time, or a date, which means midnight in local time.
func ParseMoment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return time.Time{}, failure.UsageError(fmt.Sprintf("%s %q is not a time", flag, text),
			"Write a date like 2026-03-01 or a time like 2026-03-01T08:00:00Z.")
	}
	return t, nil
}

// ParseOptionalMoment is ParseMoment with nil for an empty text.
func ParseOptionalMoment(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	t, err := ParseMoment(flag, text)
	if err != nil {
		return nil, err
	}
	return &t, nil
}

// parseSpan parses a span like 90d or 12h. It returns zero for anything else.
func parseSpan(text string) time.Duration {
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100_000 {
			return time.Duration(n) * 24 * time.Hour
		}
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return max(0, d)
}

// ParseExpiry parses a time, or a span from now. It returns nil for an empty text.
func ParseExpiry(text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if span := parseSpan(text); span > 0 {
		t := now.Add(span)
		return &t, nil
	}
	t, err := ParseMoment("--expires", text)
	if err != nil {
		return nil, failure.UsageError("--expires "+strconv.Quote(text)+" is neither a time nor a span",
			"Write a span like 30d or 12h, or a date like 2026-03-01.")
	}
	return &t, nil
}

// ParsePast parses a time, or a span before now. It returns nil for an empty text.
func ParsePast(flag, text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if span := parseSpan(text); span > 0 {
		t := now.Add(-span)
		return &t, nil
	}
	t, err := ParseMoment(flag, text)
	if err != nil {
		return nil, failure.UsageError(flag+" "+strconv.Quote(text)+" is neither a time nor a span",
			"Write a span like 7d or 12h, or a date like 2026-03-01.")
	}
	return &t, nil
}
