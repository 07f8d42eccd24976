package ratesim

import "time"

// FixedWindow counts requests per window; every window starts at zero.
type FixedWindow struct {
	Limit  int
	Window time.Duration
	Offset time.Duration // how much of the first window has passed when the run begins

	number time.Duration // of the window that count is about
	count  int
}

func (w *FixedWindow) rollWindow(now time.Duration) {
	if n := (now + w.Offset) / w.Window; n != w.number {
		w.number, w.count = n, 0
	}
}

// windowEnd returns when the window of a time ends.
func (w *FixedWindow) windowEnd(now time.Duration) time.Duration {
	return ((now+w.Offset)/w.Window+1)*w.Window - w.Offset
}

// Admit implements Limiter.
func (w *FixedWindow) Admit(now time.Duration) Ruling {
	w.rollWindow(now)
	pass := w.count < w.Limit
	if pass {
		w.count++
	}
	reset := w.windowEnd(now) - now
	return Ruling{Pass: pass, Wait: reset, Limit: w.Limit, Left: w.Limit - w.count, Reset: reset}
}

// NextAdmission implements Limiter.
func (w *FixedWindow) NextAdmission(now time.Duration) time.Duration {
	if (now+w.Offset)/w.Window != w.number || w.count < w.Limit {
		return now
	}
	return w.windowEnd(now)
}

// RateAt implements Limiter.
func (w *FixedWindow) RateAt(time.Duration) float64 { return float64(w.Limit) / w.Window.Seconds() }

// SlidingWindow remembers each request that passed for the length of the window.
type SlidingWindow struct {
	Limit  int
	Window time.Duration

	passed []time.Duration // oldest first
}

// Admit implements Limiter.
func (s *SlidingWindow) Admit(now time.Duration) Ruling {
	old := 0
	for old < len(s.passed) && s.passed[old]+s.Window <= now {
		old++
	}
	s.passed = append(s.passed[:0], s.passed[old:]...)
	r := Ruling{Pass: len(s.passed) < s.Limit, Limit: s.Limit}
	if r.Pass {
		s.passed = append(s.passed, now)
	}
	r.Left = s.Limit - len(s.passed)
	r.Reset = s.passed[0] + s.Window - now
	r.Wait = r.Reset
	return r
}

// NextAdmission implements Limiter.
func (s *SlidingWindow) NextAdmission(now time.Duration) time.Duration {
	if len(s.passed) < s.Limit {
		return now
	}
	return max(now, s.passed[len(s.passed)-s.Limit]+s.Window)
}

// RateAt implements Limiter.
func (s *SlidingWindow) RateAt(time.Duration) float64 { return float64(s.Limit) / s.Window.Seconds() }

// HourlyQuota is a long window with an announced quota over an unannounced short limit. Crossing the short limit
// blocks the client for an announced time.
type HourlyQuota struct {
	Quota    FixedWindow
	Short    TokenBucket
	CoolDown time.Duration

	shut time.Duration // until when the short limit refuses everything
}

// Admit implements Limiter.
func (h *HourlyQuota) Admit(now time.Duration) Ruling {
	h.Quota.rollWindow(now)
	r := Ruling{Limit: h.Quota.Limit, Reset: h.Quota.windowEnd(now) - now}
	switch {
	case now < h.shut:
		r.Wait, r.Tell = h.shut-now, true
	case h.Quota.count >= h.Quota.Limit:
		r.Wait, r.Hush = r.Reset, true
	case !h.Short.Admit(now).Pass:
		h.shut = now + h.CoolDown
		r.Wait, r.Tell = h.CoolDown, true
	default:
		h.Quota.count++
		r.Pass = true
	}
	r.Left = h.Quota.Limit - h.Quota.count
	return r
}

// NextAdmission implements Limiter.
func (h *HourlyQuota) NextAdmission(now time.Duration) time.Duration {
	for {
		free := h.Quota.NextAdmission(h.Short.NextAdmission(max(now, h.shut)))
		if free == now {
			return now
		}
		now = free
	}
}

// RateAt implements Limiter.
func (h *HourlyQuota) RateAt(now time.Duration) float64 {
	return min(h.Quota.RateAt(now), h.Short.RateAt(now))
}
