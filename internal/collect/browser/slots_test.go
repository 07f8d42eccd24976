package browser

import "testing"

func TestSlots(t *testing.T) {
	for available, want := range map[uint64]int{
		0: 1, 512 << 20: 1, 1 << 30: 1, 1<<30 + 600<<20 - 1: 1, 1<<30 + 1200<<20: 2, 1<<30 + 1800<<20: 3, 1<<30 + 2400<<20: 4,
		64 << 30: 4, 1<<64 - 1: 4,
	} {
		if got := Slots(available); got != want {
			t.Errorf("with %d MiB: %d", available>>20, got)
		}
	}
	if got := parseMemAvailable("MemTotal:       24681472 kB\nMemFree:        20593664 kB\n" +
		"MemAvailable:   22642688 kB\n"); got != 22642688<<10 {
		t.Errorf("available: %d", got)
	}
	for _, text := range []string{"", "MemAvailable:", "MemAvailable: many kB\n"} {
		if got := parseMemAvailable(text); got != 0 {
			t.Errorf("%q: %d", text, got)
		}
	}
	if Available() == 0 {
		t.Error("nothing is known of this machine")
	}
}
