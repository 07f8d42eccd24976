package rest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// A window begins by the clock, counts refused requests too, and announces its end.
func TestFixedWindow(t *testing.T) {
	t.Parallel()
	w := &rest.FixedWindow{Rate: 2, Window: time.Minute}
	at := time.Date(2026, 5, 6, 7, 8, 50, 0, time.UTC)
	for i, want := range []struct {
		after     time.Duration
		allowed   bool
		remaining string
		reset     time.Time
	}{
		{0, true, "1", at.Add(10 * time.Second)}, {time.Second, true, "0", at.Add(10 * time.Second)},
		{2 * time.Second, false, "0", at.Add(10 * time.Second)}, {10 * time.Second, true, "1", at.Add(70 * time.Second)},
	} {
		h := http.Header{}
		w.Reset = func(end time.Time) string { return end.Format(time.RFC3339) }
		if got := w.Spend(at.Add(want.after), h); got != want.allowed || h.Get("X-RateLimit-Remaining") != want.remaining ||
			h.Get("X-RateLimit-Reset") != want.reset.Format(time.RFC3339) {
			t.Errorf("request %d: %v %v", i, got, h)
		}
	}
}
