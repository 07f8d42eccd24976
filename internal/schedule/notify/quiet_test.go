package notify

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"

	"pgregory.net/rapid"
)

var zones = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia",
	"America/Sao_Paulo", "UTC", "Africa/Casablanca"}

// A window is quiet exactly for the wall-clock times inside it, on the days on
// which clocks change too. The times are compared as the texts that a clock
// shows, so that the test does not count minutes as the code does.
func TestQuietFollowsTheWallClock(t *testing.T) {
	clock := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute"))
	})
	rapid.Check(t, func(t *rapid.T) {
		from := clock.Draw(t, "from")
		to := clock.Filter(func(s string) bool { return s != from }).Draw(t, "to")
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		q, err := ParseQuiet(from + "-" + to + " " + zone)
		if err != nil {
			t.Fatal(err)
		}
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 1, 0, 0, 0, 0,
			time.UTC).Add(time.Duration(rapid.Int64Range(0, 2*365*24*60*60).Draw(t, "second")) * time.Second)
		if _, next := at.In(loc).ZoneBounds(); !next.IsZero() && rapid.Bool().Draw(t, "around a change of the clocks") {
			at = next.Add(time.Duration(rapid.IntRange(-4*60*60, 4*60*60).Draw(t, "offset")) * time.Second)
		}
		shown := at.In(loc).Format("15:04")
		inside := from <= shown && shown < to
		if to < from {
			inside = from <= shown || shown < to
		}
		if q.Holds(at) != inside {
			t.Fatalf("%s at %s: %v", q, at.In(loc), q.Holds(at))
		}
		if again, err := ParseQuiet(q.String()); err != nil || again.String() != q.String() {
			t.Fatalf("%s reads as %s, %v", q, again, err)
		}
	})
}

// The night on which clocks go forward is an hour shorter, the other one an
// hour longer; both end at seven by the clock.
func TestQuietNightsOfChangedClocks(t *testing.T) {
	q, err := ParseQuiet("22:00-07:00 Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for day, want := range map[string]time.Duration{"2026-03-10": 9 * time.Hour, "2026-03-28": 8 * time.Hour,
		"2026-10-24": 10 * time.Hour} {
		at, err := time.ParseInLocation(time.DateOnly+" 15:04", day+" 12:00", q.zone)
		if err != nil {
			t.Fatal(err)
		}
		quiet := time.Duration(0)
		for end := at.Add(24 * time.Hour); at.Before(end); at = at.Add(time.Minute) {
			if q.Holds(at) {
				quiet += time.Minute
			}
		}
		if quiet != want {
			t.Errorf("the night of %s is quiet for %v, want %v", day, quiet, want)
		}
	}
}

func TestParseQuiet(t *testing.T) {
	if q, err := ParseQuiet("  "); err != nil || q.Holds(noon) || q.String() != "" {
		t.Errorf("no text = %v, %v", q, err)
	}
	for text, want := range map[string]string{"22:00-24:00 UTC": "22:00-24:00 UTC",
		" 00:00-07:30  Asia/Tokyo ": "00:00-07:30 Asia/Tokyo"} {
		if q, err := ParseQuiet(text); err != nil || q.String() != want {
			t.Errorf("%q = %v, %v", text, q, err)
		}
	}
	for _, text := range []string{"22:00-07:00", "22-7 UTC", "22:00 07:00 UTC", "25:00-07:00 UTC", "22:60-07:00 UTC",
		"24:01-07:00 UTC", "24:00-07:00 UTC",
		"-1:00-07:00 UTC", "+2:00-07:00 UTC", "22:00-22:00 UTC", "22:00-07:00 Local", "22:00-07:00 Mars/Olympus",
		"22:00-07:00 ../../etc/passwd", "2２:00-07:00 UTC"} {
		var e *usererr.Error
		if q, err := ParseQuiet(text); !errors.As(err, &e) || e.Code != "quiet_hours_invalid" {
			t.Errorf("%q = %v, %v", text, q, err)
		}
	}
}

func FuzzParseQuiet(f *testing.F) {
	for _, text := range []string{"", "22:00-07:00 Europe/Berlin", "00:00-24:00 UTC", "9:00-10:00 UTC"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuiet(text)
		if err != nil {
			return
		}
		if again, err := ParseQuiet(q.String()); err != nil || again.String() != q.String() {
			t.Fatalf("%q reads as %s, and that as %s, %v", text, q, again, err)
		}
	})
}
