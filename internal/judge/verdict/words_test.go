package verdict

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

func TestAgesAreCalendarDaysOfUTC(t *testing.T) {
	east := time.FixedZone("east", 5*60*60)
	for name, c := range map[string]struct {
		refreshed, observed time.Time
		want                string
	}{
		"an hour over midnight": {time.Date(2026, 3, 11, 23, 30, 0, 0, time.UTC),
			time.Date(2026, 3, 12, 0, 30, 0, 0, time.UTC), "yesterday"},
		"a whole day": {time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC),
			time.Date(2026, 3, 12, 23, 59, 0, 0, time.UTC), "today"},
		"another zone": {time.Date(2026, 3, 12, 3, 0, 0, 0, east), time.Date(2026, 3, 12, 6, 0, 0, 0, east),
			"yesterday"},
		"long ago": {time.Date(1969, 12, 31, 1, 0, 0, 0, time.UTC), time.Date(1970, 1, 1, 1, 0, 0, 0, time.UTC),
			"yesterday"},
		"two days before 1970": {time.Date(1969, 12, 29, 1, 0, 0, 0, time.UTC),
			time.Date(1969, 12, 31, 23, 0, 0, 0, time.UTC), "2 days ago"},
		"the future": {time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC),
			""},
	} {
		r := reading{in: Input{Progress: &health.ProgressEvidence{LastRefreshedAt: &c.refreshed, ObservedAt: &c.observed}}}
		if got := r.age(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	bySuccess := reading{in: Input{Progress: &health.ProgressEvidence{ObservedAt: &observed},
		Snapshot: health.Snapshot{LastSuccessAt: daysAgo(2)}}}
	if got := bySuccess.age(); got != "2 days ago" {
		t.Errorf("by the last success: %q", got)
	}
}
