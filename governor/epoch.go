package governor

import "time"

// epoch is what happened since the last refusal. Between two refusals a bucket
// starts and ends empty, so what was delivered is what was refilled, whatever the
// burst; for a window it is the limit of the window.
type epoch struct {
	began  time.Duration
	n      float64 // answered requests
	paused float64 // quiet after refusals: the provider refills meanwhile, or bans
	idle   float64 // time in which we had nothing to send

	marks  [32]mark // evenly spread over the epoch
	used   int
	stride float64
	next   float64 // count at which the next mark is due
}

// mark is how many requests were answered by a moment of active time.
type mark struct {
	n              float64
	active, passed float32 // seconds
}

// active is the time until at in which requests could leave.
func (e *epoch) active(at time.Duration) float64 { return seconds(at-e.began) - e.idle - e.paused }

// add counts a request that left at sent. Marks are due at the multiples of the stride; once
// there is no room, every other one goes and the stride doubles.
func (e *epoch) add(sent time.Duration) {
	if e.n++; e.n < e.next {
		return
	}
	e.stride = max(1, e.stride)
	e.next = e.n + e.stride
	if e.used == len(e.marks) { // so n is an odd multiple, which is none of the doubled stride
		for i := range e.used / 2 {
			e.marks[i] = e.marks[2*i+1]
		}
		e.used /= 2
		e.stride *= 2
		return
	}
	e.marks[e.used] = mark{e.n, float32(e.active(sent)), float32(seconds(sent - e.began))}
	e.used++
}

// excess is by how many requests the flow ran ahead of the rate, counted from
// the moment that makes it most. A limit of that rate must have a burst as large.
func (e *epoch) excess(rate, active float64) float64 {
	most := 0.0
	for _, m := range e.marks[:e.used] {
		most = max(most, e.n-m.n-rate*(active-float64(m.active)))
	}
	return most
}

// sustained is the largest rate that the end of the epoch shows for a limit with
// the given burst: from any moment on, no more than burst plus rate times time
// was delivered, and at the end the burst is used up.
func (e *epoch) sustained(burst, active float64) float64 {
	best := 0.0
	for _, m := range e.marks[:e.used] {
		if n := e.n - m.n; n > 2*burst && active > float64(m.active) {
			best = max(best, (n-burst)/(active-float64(m.active)))
		}
	}
	return best
}

// last is the rate of the last requests, so many at least.
func (e *epoch) last(least, active float64) float64 {
	for i := e.used - 1; i >= 0; i-- {
		if m := e.marks[i]; e.n-m.n >= least && active > float64(m.active) {
			return (e.n - m.n) / (active - float64(m.active))
		}
	}
	return 0
}
