package browserhistory

import (
	"math"
	"testing"
	"time"
)

// TestEpochs holds each browser's count against a moment that is known by another way.
func TestEpochs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		e    timeEpoch
		raw  any
		want string
	}{
		{"Chrome", epochSince1601, int64(13_348_960_000_123_456), "2024-01-05T20:26:40.123456Z"},
		{"Chrome, before 1970", epochSince1601, int64(1), "1601-01-01T00:00:00.000001Z"},
		{"Firefox", epochSince1970, int64(1_704_486_400_123_456), "2024-01-05T20:26:40.123456Z"},
		{"Safari", epochSince2001, 726_179_200.5, "2024-01-05T20:26:40.500000Z"},
		{"Safari, whole", epochSince2001, int64(726_179_200), "2024-01-05T20:26:40.000000Z"},
		{"nothing", epochSince1601, int64(0), ""}, {"nothing at all", epochSince1970, nil, ""},
		{"a word", epochSince1970, "soon", ""},
		{"far away", epochSince1601, int64(math.MaxInt64), ""},
		{"before everything", epochSince1601, int64(math.MinInt64), ""},
		{"not a number", epochSince2001, math.NaN(), ""}, {"endless", epochSince2001, math.Inf(1), ""},
		{"too far", epochSince2001, 1e18, ""},
	} {
		if got := c.e.formatTime(c.raw); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	moment := time.Date(2026, 11, 3, 4, 5, 6, 789000, time.UTC).UnixMicro()
	for _, e := range []timeEpoch{epochSince1601, epochSince1970, epochSince2001} {
		if back, ok := e.toUnixMicro(e.fromUnixMicro(moment)); !ok || back != moment {
			t.Errorf("%v: there and back %d", e, back-moment)
		}
	}
}
