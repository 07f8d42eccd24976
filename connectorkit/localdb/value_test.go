package localdb

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// TestValues reads each kind of value in each way.
func TestValues(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 1_500_000, time.FixedZone("", 3600))
	for _, c := range []struct {
		value                      any
		text, bytes, number, float string
	}{
		{nil, "", "[]", "0", "NaN"},
		{"a\x00\xffb", "a\ufffdb", "[97 0 255 98]", "0", "NaN"},
		{[]byte("a\x00"), "a", "[97 0]", "0", "NaN"},
		{at, "2026-03-01T12:00:00.0015+01:00", "[]", "0", "NaN"},
		{int64(-7), "-7", "[]", "-7", "-7"}, {"12", "12", "[49 50]", "12", "12"},
		{"0x1f", "0x1f", "[48 120 49 102]", "0", "NaN"},
		{"1.5", "1.5", "[49 46 53]", "0", "1.5"}, {2.75, "2.75", "[]", "2", "2.75"}, {-2.75, "-2.75", "[]", "-2", "-2.75"},
		{1e300, "1e+300", "[]", "0", "1e+300"}, {-1e300, "-1e+300", "[]", "0", "-1e+300"},
		{true, "true", "[]", "1", "NaN"}, {false, "false", "[]", "0", "NaN"},
	} {
		got := []string{
			ValueText(c.value),
			fmt.Sprint(Bytes(c.value)),
			fmt.Sprint(Number(c.value)),
			fmt.Sprint(Float(c.value)),
		}
		if want := []string{c.text, c.bytes, c.number, c.float}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: %q, want %q", c.value, got, want)
		}
	}
	if got := RecordTime(at); got != "2026-03-01T11:00:00.001Z" || RecordTime(time.Time{}) != "" {
		t.Errorf("the stamp is %s", got)
	}
	seconds, nanoseconds := AppleCounts(at)
	if seconds != 794_055_600 || nanoseconds != 794_055_600_001_500_000 {
		t.Errorf("since 2001 there are %d s and %d ns", seconds, nanoseconds)
	}
	for _, c := range []struct {
		value any
		want  string
	}{
		{int64(794_055_600), "2026-03-01T11:00:00.000Z"}, {794_055_600.25, "2026-03-01T11:00:00.250Z"},
		{int64(794_055_600_001_500_000), "2026-03-01T11:00:00.001Z"}, {794_055_600_250_000_000.0, "2026-03-01T11:00:00.250Z"},
		{int64(0), ""}, {int64(-1), ""}, {math.NaN(), ""}, {"x", ""}, {int64(99_999_999_999), ""},
		{int64(6_279_811_199), "2199-12-31T23:59:59.000Z"}, {int64(6_279_811_200), ""},
		{int64(1), "2001-01-01T00:00:01.000Z"},
		{int64(100_000_000_000), "2001-01-01T00:01:40.000Z"},
	} {
		if got := RecordTime(AppleTime(c.value)); got != c.want {
			t.Errorf("%v: %q, want %q", c.value, got, c.want)
		}
	}
}
