package governor

import "math"

const (
	// scatterWeight is the weight of the newest refusal in the scatter. maxScatter bounds the effect of one
	// refusal.
	scatterWeight, maxScatter = 0.25, 0.2
	// Refusals count as random once the scatter exceeds scatterRandom, until it falls below scatterSettled.
	scatterRandom, scatterSettled = 0.045, 0.015
	// randomStep is how much a random refusal lowers the rate. randomSpacing successes bring that back; if a
	// refusal is costly, randomCost times as many requests as it costs.
	randomStep, randomSpacing, randomCost = 0.1, 70, 5
	// randomReach is the number of steps that a climb rises.
	randomReach = 4
)

// randomRefusals measures how much the rates differ at which the provider refuses. A limit that only this client
// uses refuses at the same rate every time; a moving limit drifts in one direction. Refusals that go up and down
// come from a limit that others share, or from requests with different costs. No rate is right for those: the
// faster, the more refusals.
type randomRefusals struct {
	last     float64 // rate of the last refusal
	up, down float64 // mean logarithmic step to a higher and to a lower rate
	isRandom bool    // refusals are random
}

// addRefusal records a refusal at the rate.
func (s *randomRefusals) addRefusal(rate float64) {
	if s.last > 0 {
		way := min(max(math.Log(rate/s.last), -maxScatter), maxScatter)
		s.up += scatterWeight * (max(0, way) - s.up)
		s.down += scatterWeight * (max(0, -way) - s.down)
		s.isRandom = s.width() > scatterRandom || s.isRandom && s.width() > scatterSettled
	}
	s.last = rate
}

// width returns the scatter. A drift in one direction does not count.
func (s *randomRefusals) width() float64 { return min(s.up, s.down) }

// restore continues with the scatter that an earlier run measured.
func (s *randomRefusals) restore(width float64) {
	width = min(width, maxScatter)
	s.up, s.down, s.isRandom = width, width, true
}
