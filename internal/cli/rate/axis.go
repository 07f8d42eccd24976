package rate

import (
	"math"
	"strconv"
)

const (
	// Intervals outside these bounds are drawn at the bounds.
	shortestIntervalMS = 1.0
	longestIntervalMS  = 24 * 3600 * 1000.0
	// smallestAxisRange is the smallest ratio of the longest to the shortest interval of an axis.
	smallestAxisRange = 4.0
)

// logAxis is a logarithmic scale of intervals, in milliseconds.
type logAxis struct{ low, high float64 }

// newLogAxis returns an axis that covers every interval and ceiling of the runs.
func newLogAxis(runs []plotRun) logAxis {
	a := logAxis{math.Inf(1), 0}
	cover := func(ms float64) { a.low, a.high = min(a.low, boundInterval(ms)), max(a.high, boundInterval(ms)) }
	for _, r := range runs {
		if r.ceilingMS > 0 {
			cover(r.ceilingMS)
		}
		for _, p := range r.points {
			cover(p.intervalMS)
		}
	}
	if spread := a.high / a.low; spread < smallestAxisRange {
		widen := math.Sqrt(smallestAxisRange / spread)
		a.low, a.high = a.low/widen, a.high*widen
	}
	return a
}

// boundInterval limits a connector's number to the bounds of the axis.
func boundInterval(ms float64) float64 { return min(max(ms, shortestIntervalMS), longestIntervalMS) }

// row returns the row of an interval, counted from the top, where the longest interval is.
func (a logAxis) row(ms float64, high int) int {
	up := math.Log(boundInterval(ms)/a.low) / math.Log(a.high/a.low)
	return high - 1 - min(max(int(up*float64(high)), 0), high-1)
}

// labels returns the label of each row, and the width of the widest. A label is at the row of its value.
func (a logAxis) labels() (labels [plotRows]string, width int) {
	for _, ms := range a.ticks() {
		row := &labels[a.row(ms, plotRows)]
		if *row == "" {
			*row = formatTick(ms)
			width = max(width, len(*row))
		}
	}
	return labels, width
}

// ticks returns round values on the axis: at least three, and as many as fit.
func (a logAxis) ticks() []float64 {
	ticks := a.multiples(1, 2, 5)
	switch {
	case len(ticks) < 3:
		return a.multiples(1, 1.5, 2, 3, 4, 5, 6, 8)
	case len(ticks) > plotRows:
		return a.multiples(1)
	default:
		return ticks
	}
}

// multiples returns every power of ten times a factor that is on the axis.
func (a logAxis) multiples(factors ...float64) []float64 {
	var out []float64
	for power := math.Pow(10, math.Floor(math.Log10(a.low))); power <= a.high; power *= 10 {
		for _, f := range factors {
			if ms := power * f; ms >= a.low && ms <= a.high {
				out = append(out, ms)
			}
		}
	}
	return out
}

func formatTick(ms float64) string {
	unit := "ms"
	if ms >= 1000 {
		ms, unit = ms/1000, "s"
	}
	return strconv.FormatFloat(math.Round(ms*100)/100, 'f', -1, 64) + unit
}
