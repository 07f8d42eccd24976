package governhttp

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		after, date string
		want        time.Duration
		announced   bool
	}{
		{"", "", 0, false},
		{"30", "", 30 * time.Second, true},
		{" 30 ", "", 30 * time.Second, true},
		{"0", "", 0, true},
		{"-5", "", 0, false},
		{"1.5", "", 1500 * time.Millisecond, true},
		{"79892", "", 79892 * time.Second, true}, // seen at Spotify
		{"99999999999", "", 365 * 24 * time.Hour, true},
		{at(90 * time.Second), "", 90 * time.Second, true},
		{at(90 * time.Second), at(60 * time.Second), 30 * time.Second, true}, // the provider's clock is a minute ahead
		{at(-time.Hour), "", 0, true},
		{"soon", "", 0, false},
		{"0x10", "", 0, false},
		{"NaN", "", 0, false},
		{"1.2.3", "", 0, false},
	} {
		h := http.Header{"Retry-After": {c.after}}
		if c.date != "" {
			h.Set("Date", c.date)
		}
		if got, announced := ReadRetryAfter(h, now); got != c.want || announced != c.announced {
			t.Errorf("Retry-After %q with Date %q: %s, %v, want %s, %v", c.after, c.date, got, announced, c.want, c.announced)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, text := range []string{"30", "1.5", "Wed, 01 May 2024 12:00:00 GMT", "1e9", ".", "999999999999999999999"} {
		f.Add(text, "Wed, 01 May 2024 11:00:00 GMT")
	}
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, after, date string) {
		d, announced := ReadRetryAfter(http.Header{"Retry-After": {after}, "Date": {date}}, now)
		if d < 0 || d > longestHeaderWait || !announced && d != 0 {
			t.Errorf("Retry-After %q with Date %q: %s, %v", after, date, d, announced)
		}
	})
}
