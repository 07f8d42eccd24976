package figures

import (
	"fmt"
	"math"
	"strings"
)

// The size of a drawing in its own units. The page stretches it.
const (
	chartWide, chartHigh = 1000.0, 200.0
	chartSteps           = 4
)

// chart is a drawing: paths in the units above, and the words of its axes.
type chart struct {
	Label string // the drawing in a sentence
	Bars  string
	Prev  string // of the period before: bars, or a dashed line
	Line  string
	Gaps  string // what is not known
	Avg   string
	Band  string // the usual range
	Y     []string
	X     []string
	Lines bool // it is drawn as lines
}

// scale is a range of values with round steps.
type scale struct{ low, step float64 }

// scaleOf finds round steps that hold values.
func scaleOf(low, high float64, zero bool) scale {
	if zero {
		low, high = min(low, 0), max(high, 0)
	}
	if high <= low {
		high = low + 1
	}
	size := math.Pow(10, math.Floor(math.Log10((high-low)/chartSteps)))
	for range 3 {
		for _, by := range []float64{1, 2, 2.5, 5} {
			step := by * size
			if from := math.Floor(low/step) * step; from+chartSteps*step >= high {
				return scale{from, step}
			}
		}
		size *= 10
	}
	return scale{low, (high - low) / chartSteps}
}

func (s scale) y(v float64) float64 {
	return chartHigh * (1 - (v-s.low)/(chartSteps*s.step))
}

// labels are the values at the lines of a grid, from above.
func (s scale) labels(write func(float64) string) (out []string) {
	for i := chartSteps; i >= 0; i-- {
		out = append(out, write(s.low+float64(i)*s.step))
	}
	return out
}

// series is what a chart draws.
type series struct {
	now, before []bucket // before is of equal length, or empty
	each        string
	bars        bool
	average     float64
	averaged    bool
	usualLow    float64
	usualHigh   float64
	usual       bool
}

// drawChart draws a series.
func drawChart(s series, write func(float64) string) chart {
	low, high, any := 0.0, 0.0, false
	look := func(v float64) {
		if !any {
			low, high, any = v, v, true
		}
		low, high = min(low, v), max(high, v)
	}
	for _, all := range [][]bucket{s.now, s.before} {
		for _, b := range all {
			if !b.Unknown {
				look(b.Value)
			}
		}
	}
	if s.usual {
		look(s.usualLow)
		look(s.usualHigh)
	}
	at := scaleOf(low, high, s.bars)
	c := chart{Y: at.labels(write), Lines: !s.bars}
	wide := chartWide / float64(max(1, len(s.now)))
	c.Gaps = gapsOf(s.now, wide)
	if s.bars {
		c.Bars, c.Prev = barsOf(s.now, wide, at, .42, .94), barsOf(s.before, wide, at, .06, .4)
		if len(s.before) == 0 {
			c.Bars = barsOf(s.now, wide, at, .14, .86)
		}
	} else {
		c.Line, c.Prev = lineOf(s.now, wide, at), lineOf(s.before, wide, at)
	}
	if s.averaged {
		c.Avg = fmt.Sprintf("M0 %.1fH1000", at.y(s.average))
	}
	if s.usual {
		c.Band = fmt.Sprintf("M0 %.1fH1000V%.1fH0Z", at.y(s.usualHigh), at.y(s.usualLow))
	}
	marks := min(5, len(s.now))
	for i := range marks {
		c.X = append(c.X, s.now[i*(len(s.now)-1)/max(1, marks-1)].mark(s.each))
	}
	return c
}

// gapsOf draws what is not known.
func gapsOf(all []bucket, wide float64) string {
	var path strings.Builder
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].Unknown {
			end++
		}
		if end > i {
			fmt.Fprintf(&path, "M%.1f 0H%.1fV200H%.1fZ", float64(i)*wide, float64(end)*wide, float64(i)*wide)
		}
		i = end + 1
	}
	return path.String()
}

// barsOf draws bars from zero, each in a part of its bucket.
func barsOf(all []bucket, wide float64, at scale, from, to float64) string {
	var path strings.Builder
	for i, b := range all {
		if b.Unknown || b.Value == 0 {
			continue
		}
		x := (float64(i) + from) * wide
		fmt.Fprintf(&path, "M%.1f %.1fV%.1fH%.1fV%.1fZ", x, at.y(0), at.y(b.Value), (float64(i)+to)*wide, at.y(0))
	}
	return path.String()
}

// lineOf draws a line, broken where nothing is known.
func lineOf(all []bucket, wide float64, at scale) string {
	var path strings.Builder
	open := false
	for i, b := range all {
		if b.Unknown {
			open = false
			continue
		}
		command := "M"
		if open {
			command = "L"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", command, (float64(i)+.5)*wide, at.y(b.Value))
		if !open && (i+1 == len(all) || all[i+1].Unknown) {
			path.WriteString("h.1") // a day between two gaps
		}
		open = true
	}
	return path.String()
}
