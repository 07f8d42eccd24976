package localdb

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A column of a foreign database may hold anything, whatever it is declared as. Values are
// therefore scanned as any, and these read them.

// ValueText is a value as text that is valid and without zero bytes; empty when it is none.
func ValueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.ReplaceAll(strings.ToValidUTF8(v, "\ufffd"), "\x00", "")
	case []byte:
		return ValueText(string(v))
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

// Bytes are a value as it is stored; nil when it is a number or nothing.
func Bytes(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case []byte:
		return v
	}
	return nil
}

// Number is a value as a whole number; zero when it is none.
func Number(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case bool:
		if v {
			return 1
		}
	case float64:
		if math.Abs(v) < math.MaxInt64/2 {
			return int64(v)
		}
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil {
			return n
		}
	}
	return 0
}

// Float is a value as a number; NaN when it is none.
func Float(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return f
		}
	}
	return math.NaN()
}

// appleEpoch is where Apple's programs count from.
var appleEpoch = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// nanosecondThreshold is from which size on a count since 2001 is one of nanoseconds: as one of seconds it
// would be in the year 5170.
const nanosecondThreshold = 1e11

// AppleTime is a moment that is counted in seconds or in nanoseconds since 2001, each value as
// its size implies. It returns zero if there is none, or one that no clock has shown.
func AppleTime(v any) time.Time {
	n := Float(v)
	if n >= nanosecondThreshold {
		if whole, exact := v.(int64); exact {
			return plausibleTime(appleEpoch.Add(time.Duration(whole)))
		}
		n /= 1e9
	}
	if !(n > 0 && n < nanosecondThreshold) {
		return time.Time{}
	}
	seconds, part := math.Modf(n)
	// such a number is no finer
	return plausibleTime(time.Unix(appleEpoch.Unix()+int64(seconds), int64(math.Round(part*1e6))*1000).UTC())
}

func plausibleTime(at time.Time) time.Time {
	if at.Year() < 2001 || at.Year() > 2199 {
		return time.Time{}
	}
	return at
}

// AppleCounts is a moment as both counts have it.
func AppleCounts(at time.Time) (seconds, nanoseconds int64) {
	return at.Unix() - appleEpoch.Unix(), at.Sub(appleEpoch).Nanoseconds()
}

// RecordTime is a moment as records have it; empty when there is none.
func RecordTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}
