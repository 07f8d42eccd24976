package governor

import "time"

const (
	// sureOf is the part of what an opening showed that is spent at once again.
	sureOf = 0.9
	// overdrawn multiplies the depth when it was refused.
	overdrawn = 0.7
)

// spare is what a provider that was left alone gives at once, ahead of its rate: a
// full bucket, a fresh window. It is learned from the opening of a cold run and spent
// at the owner's ceiling when a later run begins, because most runs are short.
type spare struct {
	depth float64 // requests that it gives ahead of the rate; zero while unknown
	left  float64 // still to be spent

	opening [8]mark // answers and seconds from moments of a cold run to its first refusal

	from  time.Duration // when the spending began
	spent float64       // requests since then
}

// most is how much is spent at once at a provider with the limit.
func (s *spare) most(limit float64) float64 {
	if s.depth == 0 {
		return max(0, sureOf*s.shown(limit)-1)
	}
	return s.depth
}

// refill makes good what time brings.
func (s *spare) refill(limit, seconds float64) {
	s.left = max(s.left, min(s.most(limit), s.left+limit*seconds))
}

// spend takes a request that leaves ahead of its time by a part of an interval.
func (s *spare) spend(at time.Duration, limit, ahead float64) {
	if !s.ahead(at, limit) {
		s.from, s.spent = at, 0
	}
	s.left -= min(1, ahead)
	s.spent++
}

// ahead reports that more was spent than the rate has brought since.
func (s *spare) ahead(at time.Duration, limit float64) bool {
	return s.spent > 0 && s.spent-limit*seconds(at-s.from) > 0.5
}

// due is when the rate has brought what was spent.
func (s *spare) due(limit float64) time.Duration { return s.from + span(s.spent/limit) }

// refused learns from a refusal of what was spent.
func (s *spare) refused(limit float64) {
	if s.left >= 1 {
		s.depth = overdrawn * max(0, s.most(limit)-s.left)
	}
}

// opened keeps what the epoch before the first refusal of all shows.
func (s *spare) opened(e *epoch, passed float64) {
	for i := range s.opening {
		if m := e.marks[max(0, e.used-1)*i/(len(s.opening)-1)]; m.n > 0 {
			s.opening[i] = mark{n: e.n - m.n, passed: float32(passed) - m.passed}
		}
	}
}

// shown is by how many requests the opening ran ahead of the limit.
func (s *spare) shown(limit float64) float64 {
	most := 0.0
	for _, m := range s.opening {
		most = max(most, m.n-limit*float64(m.passed))
	}
	return most
}
