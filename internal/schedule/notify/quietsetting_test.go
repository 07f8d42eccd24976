package notify

import (
	"testing"
)

// What the owner set is what every process reads, and nothing before.
func TestQuietHoursAreKept(t *testing.T) {
	st := openStore(t)
	if q, err := LoadQuiet(t.Context(), st); err != nil || q != (Quiet{}) {
		t.Fatalf("before: %+v, %v", q, err)
	}
	want, err := ParseQuiet("22:00-07:30 Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	if err := SaveQuiet(t.Context(), st, want, noon); err != nil {
		t.Fatal(err)
	}
	if q, err := LoadQuiet(t.Context(), st); err != nil || q.String() != want.String() {
		t.Errorf("after: %v, %v", q, err)
	}
}
