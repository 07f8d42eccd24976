package governor

import "time"

const (
	// spareSafety is the part of the observed spare credit that is spent again.
	spareSafety = 0.9
	// spareReduction multiplies the depth after a refusal of spare credit.
	spareReduction = 0.7
)

// spareCredit is the number of requests that a rested provider accepts ahead of its rate: a full bucket or a
// fresh window. It is learned from the start of a cold run. A later run spends it at the owner's ceiling when it
// begins, because most runs are short.
type spareCredit struct {
	depth float64 // requests accepted ahead of the rate; zero if unknown
	left  float64 // not yet spent

	opening [8]epochMark // answers and seconds from moments of a cold run to its first refusal

	from  time.Duration // when the spending began
	spent float64       // requests since then
}

// capacity returns how many requests may be spent at once for the limit.
func (s *spareCredit) capacity(limit float64) float64 {
	if s.depth == 0 {
		return max(0, spareSafety*s.openingExcess(limit)-1)
	}
	return s.depth
}

// refill adds what the limit delivers in the seconds.
func (s *spareCredit) refill(limit, seconds float64) {
	s.left = max(s.left, min(s.capacity(limit), s.left+limit*seconds))
}

// spend takes a request that is sent ahead of schedule by a part of an interval.
func (s *spareCredit) spend(at time.Duration, limit, ahead float64) {
	if !s.isAhead(at, limit) {
		s.from, s.spent = at, 0
	}
	s.left -= min(1, ahead)
	s.spent++
}

// isAhead reports whether more was spent than the rate has refilled since.
func (s *spareCredit) isAhead(at time.Duration, limit float64) bool {
	return s.spent > 0 && s.spent-limit*inSeconds(at-s.from) > 0.5
}

// refilledAt returns when the rate will have refilled what was spent.
func (s *spareCredit) refilledAt(limit float64) time.Duration {
	return s.from + toDuration(s.spent/limit)
}

// recordRefusal lowers the depth after a refusal.
func (s *spareCredit) recordRefusal(limit float64) {
	if s.left >= 1 {
		s.depth = spareReduction * max(0, s.capacity(limit)-s.left)
	}
}

// recordOpening stores what the epoch before the first refusal shows.
func (s *spareCredit) recordOpening(e *refusalEpoch, passed float64) {
	for i := range s.opening {
		if m := e.marks[max(0, e.used-1)*i/(len(s.opening)-1)]; m.n > 0 {
			s.opening[i] = epochMark{n: e.n - m.n, passed: float32(passed) - m.passed}
		}
	}
}

// openingExcess returns by how many requests the opening exceeded the limit.
func (s *spareCredit) openingExcess(limit float64) float64 {
	most := 0.0
	for _, m := range s.opening {
		most = max(most, m.n-limit*float64(m.passed))
	}
	return most
}
