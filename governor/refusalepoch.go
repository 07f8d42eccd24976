package governor

import "time"

// refusalEpoch records the responses since the last refusal. A token bucket is empty at both refusals, so the
// requests delivered between them equal the requests refilled, whatever the burst. For a window, they equal the
// window's limit.
type refusalEpoch struct {
	began  time.Duration
	n      float64 // answered requests
	paused float64 // pause after the refusals: the provider refills, or bans
	idle   float64 // time in which there was nothing to send

	marks  [32]epochMark // spread evenly over the epoch
	used   int
	stride float64
	next   float64 // count at which the next mark is due
}

// epochMark is the number of requests answered by one moment of the epoch.
type epochMark struct {
	n              float64
	active, passed float32 // seconds without and with idle time
}

// active returns the seconds until at in which requests could be sent.
func (e *refusalEpoch) active(at time.Duration) float64 {
	return inSeconds(at-e.began) - e.idle - e.paused
}

// add counts a request that was sent at sent. Marks are placed at multiples of the stride. When all are used,
// every second mark is dropped and the stride doubles.
func (e *refusalEpoch) add(sent time.Duration) {
	if e.n++; e.n < e.next {
		return
	}
	e.stride = max(1, e.stride)
	e.next = e.n + e.stride
	if e.used == len(e.marks) { // n is an odd multiple of the stride, so not a multiple of twice the stride
		for i := range e.used / 2 {
			e.marks[i] = e.marks[2*i+1]
		}
		e.used /= 2
		e.stride *= 2
		return
	}
	e.marks[e.used] = epochMark{e.n, float32(e.active(sent)), float32(inSeconds(sent - e.began))}
	e.used++
}

// excess returns by how many requests the flow exceeded the rate, counted from the worst moment. A limit with
// that rate must allow a burst of this size.
func (e *refusalEpoch) excess(rate, active float64) float64 {
	most := 0.0
	for _, m := range e.marks[:e.used] {
		most = max(most, e.n-m.n-rate*(active-float64(m.active)))
	}
	return most
}

// sustained returns the highest rate that the end of the epoch proves for a limit with the burst. From any moment
// on, at most burst + rate*time requests pass, and at the refusal the burst is used up.
func (e *refusalEpoch) sustained(burst, active float64) float64 {
	best := 0.0
	for _, m := range e.marks[:e.used] {
		if n := e.n - m.n; n > 2*burst && active > float64(m.active) {
			best = max(best, (n-burst)/(active-float64(m.active)))
		}
	}
	return best
}

// recentRate returns the rate of the most recent requests, at least least of them.
func (e *refusalEpoch) recentRate(least, active float64) float64 {
	for i := e.used - 1; i >= 0; i-- {
		if m := e.marks[i]; e.n-m.n >= least && active > float64(m.active) {
			return (e.n - m.n) / (active - float64(m.active))
		}
	}
	return 0
}
