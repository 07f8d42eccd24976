package arguments

import (
	"testing"
	"time"
)

func TestExpiry(t *testing.T) {
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"30d": now.Add(30 * 24 * time.Hour), "90m": now.Add(90 * time.Minute), "2027-01-02T03:04:05Z": time.Date(2027, 1, 2,
			3, 4, 5, 0, time.UTC),
	} {
		got, err := ParseExpiry(text, now)
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"soon", "-3d", "0d", "d", "99999999999d", "-1h"} {
		if got, err := ParseExpiry(text, now); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got, err := ParseExpiry("", now); got != nil || err != nil {
		t.Errorf("nothing: %v, %v", got, err)
	}
}
