package deviceapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

func retryAfter(err error) time.Duration {
	var f *usererr.Error
	if errors.As(err, &f) {
		return f.RetryAfter
	}
	return 0
}

// TestHeartbeatWindow checks that a device has 60 heartbeats in a minute, which begins with the first, and that a
// clock which goes back does not lock a device out.
func TestHeartbeatWindow(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a := newAdmission(Config{Now: func() time.Time { return now }})
	var got []time.Duration
	for _, after := range []time.Duration{0, 45 * time.Second, 59900 * time.Millisecond, time.Minute, 59 * time.Second} {
		now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(after)
		accepted := 0
		var err error
		for err == nil && accepted <= heartbeatsMinute {
			if err = a.admitHeartbeat("d"); err == nil {
				accepted++
			}
		}
		got = append(got, time.Duration(accepted), retryAfter(err))
	}
	want := []time.Duration{60, time.Minute, 0, 15 * time.Second, 0, time.Second, 60, time.Minute, 60, time.Minute}
	if !slices.Equal(got, want) {
		t.Errorf("accepted and retried after %v, want %v", got, want)
	}
	if err := a.admitHeartbeat("other"); err != nil {
		t.Errorf("another device: %v", err)
	}
}

// TestDiskFull checks the limits of free space, and how long a measurement is used.
func TestDiskFull(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var free, total uint64
	known := true
	a := newAdmission(Config{Now: func() time.Time { return now },
		FreeSpace: func() (uint64, uint64, bool) { return free, total, known }})
	for _, c := range []struct {
		pass        time.Duration
		free, total uint64
		known, want bool
	}{
		{0, 1<<30 - 1, 1 << 30, true, true},
		{10*time.Second - 1, 1 << 40, 1 << 40, true, true}, // measured too recently
		{1, 1 << 30, 50 << 30, true, false},
		{10 * time.Second, 1 << 30, 50<<30 + 50, true, true},
		{10 * time.Second, 0, 0, false, false},
		{-time.Hour, 0, 1 << 30, true, true}, // the clock went back
	} {
		now = now.Add(c.pass)
		free, total, known = c.free, c.total, c.known
		if got := a.diskFull(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestReserve checks that bytes are reserved until they are released, and that waiting for them ends after a second.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(Config{Now: time.Now})
		release, err := a.reserve(t.Context(), maxBytesInFlight)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := a.reserve(t.Context(), 1); retryAfter(err) != time.Second || time.Since(began) != time.Second {
			t.Errorf("more than the maximum: %v after %v", err, time.Since(began))
		}
		release()
		if _, err := a.reserve(t.Context(), maxBytesInFlight); err != nil {
			t.Errorf("after the release: %v", err)
		}
	})
}

// TestQueueTimeLimits checks the average over batches and its limits.
func TestQueueTimeLimits(t *testing.T) {
	a := newAdmission(Config{})
	var got []time.Duration
	for _, took := range []time.Duration{8 * time.Second, 16 * time.Second, 0, 24 * time.Hour} {
		a.noteDuration(took)
		a.waiting = 3
		got = append(got, a.average, a.queueTime())
	}
	a.average, a.waiting = time.Minute, 0
	got = append(got, a.queueTime())
	a.average = 0
	got = append(got, a.queueTime())
	const second = time.Second
	want := []time.Duration{8 * second, 8 * second, 9 * second, 9 * second, 7875 * time.Millisecond,
		7875 * time.Millisecond,
		10806890625 * time.Microsecond, time.Minute, 15 * second, second}
	if !slices.Equal(got, want) {
		t.Errorf("averages and queue times %v, want %v", got, want)
	}
}

// TestExpectedSize checks how much memory is reserved for a body.
func TestExpectedSize(t *testing.T) {
	for _, c := range []struct {
		length   int64
		encoding string
		want     int64
	}{
		{-1, "", 20 << 20}, {-1, "gzip", 20 << 20}, {0, "", 8 << 10}, {8<<10 + 1, "", 8<<10 + 1},
		{20 << 20, "", 20 << 20}, {20<<20 + 1, "", 20 << 20}, {2 << 20, "gzip", 16 << 20}, {3 << 20, "gzip", 20 << 20},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.ContentLength = c.length
		r.Header.Set("Content-Encoding", c.encoding)
		if got := expected(r); got != c.want {
			t.Errorf("%d %s: %d, want %d", c.length, c.encoding, got, c.want)
		}
	}
}
