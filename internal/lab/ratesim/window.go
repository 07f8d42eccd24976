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

func (w *FixedWindow) roll(now time.Duration) {
	if n := (now + w.Offset) / w.Window; n != w.number {
		w.number, w.count = n, 0
	}
}

// ends tells when the window of a time is over.
func (w *FixedWindow) ends(now time.Duration) time.Duration {
	return ((now+w.Offset)/w.Window+1)*w.Window - w.Offset
}

// Take implements Limiter.
func (w *FixedWindow) Take(now time.Duration) Ruling {
	w.roll(now)
	pass := w.count < w.Limit
	if pass {
		w.count++
	}
	reset := w.ends(now) - now
	return Ruling{Pass: pass, Wait: reset, Limit: w.Limit, Left: w.Limit - w.count, Reset: reset}
}

// Free implements Limiter.
func (w *FixedWindow) Free(now time.Duration) time.Duration {
	if (now+w.Offset)/w.Window != w.number || w.count < w.Limit {
		return now
	}
	return w.ends(now)
}

// Rate implements Limiter.
func (w *FixedWindow) Rate(time.Duration) float64 { return float64(w.Limit) / w.Window.Seconds() }

// SlidingWindow remembers each request that passed for the length of the window.
type SlidingWindow struct {
	Limit  int
	Window time.Duration

	passed []time.Duration // oldest first
}

// Take implements Limiter.
func (s *SlidingWindow) Take(now time.Duration) Ruling {
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

// Free implements Limiter.
func (s *SlidingWindow) Free(now time.Duration) time.Duration {
	if len(s.passed) < s.Limit {
		return now
	}
	return max(now, s.passed[len(s.passed)-s.Limit]+s.Window)
}

// Rate implements Limiter.
func (s *SlidingWindow) Rate(time.Duration) float64 { return float64(s.Limit) / s.Window.Seconds() }

// Hourly is a long window whose allowance is announced, over a short limit that
// is not. Crossing the short limit closes the door for a while, which is told.
type Hourly struct {
	Quota    FixedWindow
	Short    Bucket
	CoolDown time.Duration

	shut time.Duration // until when the short limit refuses everything
}

// Take implements Limiter.
func (h *Hourly) Take(now time.Duration) Ruling {
	h.Quota.roll(now)
	r := Ruling{Limit: h.Quota.Limit, Reset: h.Quota.ends(now) - now}
	switch {
	case now < h.shut:
		r.Wait, r.Tell = h.shut-now, true
	case h.Quota.count >= h.Quota.Limit:
		r.Wait, r.Hush = r.Reset, true
	case !h.Short.Take(now).Pass:
		h.shut = now + h.CoolDown
		r.Wait, r.Tell = h.CoolDown, true
	default:
		h.Quota.count++
		r.Pass = true
	}
	r.Left = h.Quota.Limit - h.Quota.count
	return r
}

// Free implements Limiter.
func (h *Hourly) Free(now time.Duration) time.Duration {
	for {
		free := h.Quota.Free(h.Short.Free(max(now, h.shut)))
		if free == now {
			return now
		}
		now = free
	}
}

// Rate implements Limiter.
func (h *Hourly) Rate(now time.Duration) float64 { return min(h.Quota.Rate(now), h.Short.Rate(now)) }
