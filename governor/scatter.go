package governor

import "math"

const (
	// scatterShare weighs the newest refusal in the scatter, furthest bounds what one adds.
	scatterShare, furthest = 0.25, 0.2
	// scattered is the scatter from which on the refusals come by chance as much as by the
	// pace, gathered the one below which they no longer do.
	scattered, gathered = 0.045, 0.015
	// chanceStep is by how much a refusal lowers the pace then, and chanceSpacing how many
	// successes bring that back; where a refusal costs much, chanceCost times as many as it
	// costs.
	chanceStep, chanceSpacing, chanceCost = 0.1, 70, 5
	// chanceReach is how many steps a climb goes up.
	chanceReach = 4
)

// scatter tells how much the rates differ at which one provider refuses. A limit that is
// ours alone refuses at the same rate again and again, one that moves does so further and
// further on; up and down by turns go those that others draw on as well, or that count
// requests unequally. No rate is right there: the faster, the more is refused.
type scatter struct {
	last     float64 // rate that was refused last
	up, down float64 // mean way from one to the next, upwards and downwards
	chance   bool    // refusals come by chance
}

// refused takes in the rate of a refusal.
func (s *scatter) refused(rate float64) {
	if s.last > 0 {
		way := min(max(math.Log(rate/s.last), -furthest), furthest)
		s.up += scatterShare * (max(0, way) - s.up)
		s.down += scatterShare * (max(0, -way) - s.down)
		s.chance = s.width() > scattered || s.chance && s.width() > gathered
	}
	s.last = rate
}

// width is the scatter: what goes one way only is none.
func (s *scatter) width() float64 { return min(s.up, s.down) }

// restore takes over what an earlier run found.
func (s *scatter) restore(width float64) {
	width = min(width, furthest)
	s.up, s.down, s.chance = width, width, true
}
