package cli

import (
	"math"
	"strconv"
)

const (
	// What is shorter or longer is drawn at these ends.
	shortestMS = 1.0
	longestMS  = 24 * 3600 * 1000.0
	// leastRange is the longest interval of an axis by its shortest, at least.
	leastRange = 4.0
)

// logAxis is a logarithmic scale of intervals, in milliseconds.
type logAxis struct{ low, high float64 }

// axisOf covers every interval and ceiling of the runs.
func axisOf(runs []plotRun) logAxis {
	a := logAxis{math.Inf(1), 0}
	cover := func(ms float64) { a.low, a.high = min(a.low, bounded(ms)), max(a.high, bounded(ms)) }
	for _, r := range runs {
		if r.ceilingMS > 0 {
			cover(r.ceilingMS)
		}
		for _, p := range r.points {
			cover(p.intervalMS)
		}
	}
	if spread := a.high / a.low; spread < leastRange {
		widen := math.Sqrt(leastRange / spread)
		a.low, a.high = a.low/widen, a.high*widen
	}
	return a
}

// bounded keeps a foreign number on the axis.
func bounded(ms float64) float64 { return min(max(ms, shortestMS), longestMS) }

// row is the row of an interval among high ones, counted from the top, where
// the longest interval is.
func (a logAxis) row(ms float64, high int) int {
	up := math.Log(bounded(ms)/a.low) / math.Log(a.high/a.low)
	return high - 1 - min(max(int(up*float64(high)), 0), high-1)
}

// labels gives the text beside each row, and the width of the widest. A label
// stands at the row that holds its value.
func (a logAxis) labels() (labels [plotRows]string, width int) {
	for _, ms := range a.ticks() {
		row := &labels[a.row(ms, plotRows)]
		if *row == "" {
			*row = tickText(ms)
			width = max(width, len(*row))
		}
	}
	return labels, width
}

// ticks are round values on the axis: as many as there is room for, at least
// three.
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

// multiples gives every power of ten times a factor that is on the axis.
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

func tickText(ms float64) string {
	unit := "ms"
	if ms >= 1000 {
		ms, unit = ms/1000, "s"
	}
	return strconv.FormatFloat(math.Round(ms*100)/100, 'f', -1, 64) + unit
}
