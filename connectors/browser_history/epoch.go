package browserhistory

import (
	"math"
	"time"
)

// epoch is how a browser counts time: units since a moment.
type epoch struct {
	zero int64   // of 1970, in microseconds since the moment
	unit float64 // of one, in microseconds
}

var (
	since1601 = epoch{11_644_473_600_000_000, 1}
	since1970 = epoch{0, 1}
	since2001 = epoch{-978_307_200_000_000, 1e6} // 1970 is before it
)

// micro is the time in microseconds since 1970; false when nothing is said, or nothing that a
// record can say.
func (e epoch) micro(v any) (int64, bool) {
	var n float64
	switch v := v.(type) {
	case int64:
		if v == 0 {
			return 0, false
		}
		if e.unit == 1 {
			at := v - e.zero
			return at, at <= v && sayable(at)
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
	return at, sayable(at)
}

var (
	earliest = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()
)

func sayable(micro int64) bool { return micro >= earliest && micro <= latest }

// time is the time as records have it; empty when there is none.
func (e epoch) time(v any) string {
	at, ok := e.micro(v)
	if !ok {
		return ""
	}
	return time.UnixMicro(at).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// raw is a time in microseconds since 1970 as the browser counts it.
func (e epoch) raw(micro int64) any {
	if e.unit == 1 {
		return micro + e.zero
	}
	return float64(micro+e.zero) / e.unit
}
