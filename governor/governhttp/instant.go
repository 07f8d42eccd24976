package governhttp

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longest bounds what a header can ask for; more is a mistake of the sender.
const longest = 365 * 24 * time.Hour

// ReadRetryAfter reads both forms of Retry-After: seconds and a date. A date is
// measured from the answer's own Date, so that a wrong clock on either side does
// no harm, and from now when there is none. False means that the answer asks for
// nothing readable.
func ReadRetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, ok := number(text); ok {
		return span(seconds), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return bounded(at.Sub(answered(h, now))), true
}

// answered is the provider's time of the answer. A Date is cut to its second, so
// that what is measured from it is never too short.
func answered(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}

// until reads when an allowance is full again: a small number is seconds from
// the answer on, a large one seconds and a very large one milliseconds since
// 1970. Dates are read too.
func until(text string, answered time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if v, ok := number(text); ok {
		switch {
		case v > 1e12:
			return bounded(time.UnixMilli(int64(min(math.Ceil(v), 1e15))).Sub(answered)), true
		case v > 1e9:
			return bounded(time.UnixMilli(int64(math.Ceil(v * 1e3))).Sub(answered)), true
		}
		return span(v), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return 0, false
	}
	return bounded(at.Sub(answered)), true
}

// number reads digits with an optional decimal part, and nothing else.
func number(text string) (float64, bool) {
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// span is a number of seconds, rounded up to the microsecond.
func span(seconds float64) time.Duration {
	return bounded(time.Duration(math.Ceil(min(seconds, longest.Seconds())*1e6)) * time.Microsecond)
}

func bounded(d time.Duration) time.Duration { return min(max(d, 0), longest) }
