package rest

import (
	"net/http"
	"strconv"
	"time"
)

// FixedWindow is a limit for windows that begin by the clock. Every answer has X-RateLimit-Limit, X-RateLimit-Remaining
// and X-RateLimit-Reset; a refusal has no Retry-After.
type FixedWindow struct {
	Rate   int // requests in a window
	Window time.Duration
	Reset  func(end time.Time) string // form of X-RateLimit-Reset; nil is seconds of the epoch

	began time.Time
	used  int
}

// Spend counts a request and reports whether it is within the limit.
func (w *FixedWindow) Spend(now time.Time, h http.Header) bool {
	if at := now.Truncate(w.Window); !at.Equal(w.began) {
		w.began, w.used = at, 0
	}
	w.used++
	end := w.began.Add(w.Window)
	reset := strconv.FormatInt(end.Unix(), 10)
	if w.Reset != nil {
		reset = w.Reset(end)
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(w.Rate))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, w.Rate-w.used)))
	h.Set("X-RateLimit-Reset", reset)
	return w.used <= w.Rate
}
