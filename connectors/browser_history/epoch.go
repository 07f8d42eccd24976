package browserhistory

import (
	"math"
	"time"
)

// timeEpoch is how a browser counts time: units since a moment.
type timeEpoch struct {
	zero int64   // of 1970, in microseconds since the moment
	unit float64 // of one, in microseconds
}

var (
	epochSince1601 = timeEpoch{11_644_473_600_000_000, 1}
	epochSince1970 = timeEpoch{0, 1}
	epochSince2001 = timeEpoch{-978_307_200_000_000, 1e6} // 1970 is before it
)

// toUnixMicro returns the time in microseconds since 1970. It returns false when there is none or when a record
// cannot hold it.
func (e timeEpoch) toUnixMicro(v any) (int64, bool) {
	var n float64
	switch v := v.(type) {
	case int64:
		if v == 0 {
			return 0, false
		}
		if e.unit == 1 {
			at := v - e.zero
			return at, at <= v && isRepresentable(at)
		}
		n = float64(v)
	case float64:
		n = v
	default:
		return 0, false
	}
	n = n*e.unit - float64(e.zero)
	if math.IsNaN(n) || math.Abs(n) > 9e18 || v == float64(0) {
		return 0, false
	}
	at := int64(math.Round(n))
	return at, isRepresentable(at)
}

var (
	earliestTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	latestTime   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()
)

func isRepresentable(micro int64) bool { return micro >= earliestTime && micro <= latestTime }

// formatTime returns the time in the format of records; empty when there is none.
func (e timeEpoch) formatTime(v any) string {
	at, ok := e.toUnixMicro(v)
	if !ok {
		return ""
	}
	return time.UnixMicro(at).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// fromUnixMicro is a time in microseconds since 1970 as the browser counts it.
func (e timeEpoch) fromUnixMicro(micro int64) any {
	if e.unit == 1 {
		return micro + e.zero
	}
	return float64(micro+e.zero) / e.unit
}
