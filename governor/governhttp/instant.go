package governhttp

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestHeaderWait bounds the time that a header can ask for. Longer times are mistakes.
const longestHeaderWait = 365 * 24 * time.Hour

// ReadRetryAfter parses a Retry-After header in both forms, seconds and a date. It measures a date from the
// response's Date header, so that wrong clocks do no harm, or from now if there is none. It returns false if the
// header is missing or malformed.
func ReadRetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, ok := readNumber(text); ok {
		return secondsToDuration(seconds), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return clampHeaderWait(at.Sub(responseTime(h, now))), true
}

// responseTime returns the provider's time of the response. A Date is truncated to its second, so durations
// measured from it are never too short.
func responseTime(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}

// readReset parses when a quota is full again. A small number is seconds after the response, a large one is
// seconds and a very large one milliseconds since 1970. It also parses dates.
func readReset(text string, answered time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if v, ok := readNumber(text); ok {
		switch {
		case v > 1e12:
			return clampHeaderWait(time.UnixMilli(int64(min(math.Ceil(v), 1e15))).Sub(answered)), true
		case v > 1e9:
			return clampHeaderWait(time.UnixMilli(int64(math.Ceil(v * 1e3))).Sub(answered)), true
		}
		return secondsToDuration(v), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return 0, false
	}
	return clampHeaderWait(at.Sub(answered)), true
}

// readNumber parses digits with an optional decimal part, and nothing else.
func readNumber(text string) (float64, bool) {
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// secondsToDuration rounds up to the microsecond.
func secondsToDuration(seconds float64) time.Duration {
	return clampHeaderWait(time.Duration(math.Ceil(min(seconds, longestHeaderWait.Seconds())*1e6)) * time.Microsecond)
}

func clampHeaderWait(d time.Duration) time.Duration { return min(max(d, 0), longestHeaderWait) }
