package status

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// The drawing of a pace: 180 units high, 1000 wide, of which each pause between runs
// takes the same small part whatever it lasted.
const (
	plotTop    = 8.0
	plotHeight = 180.0
	plotWidth  = 1000.0
	gapShare   = 0.04
	mostPoints = 240 // of one run
	// labelHeight is what the two lines of a level's label take.
	labelHeight = 30.0
)

// plot is a pace, ready to be drawn. Coordinates are text because that is what a
// drawing takes.
type plot struct {
	Lines   []plotLine
	Gaps    []plotSpan
	Marks   []plotMark
	Grid    []plotLevel
	Ceiling *plotLevel
	Ticks   []plotTick
	Text    string
}

type plotLine struct{ Line, Area string }
type plotSpan struct{ X, Width string }
type plotLevel struct{ Y, TextY, SubY, Text, Every string }
type plotTick struct{ X, Anchor, Text string }
type plotMark struct {
	X, Y, Text string
	Paused     bool
}

// drawn keeps the runs that measured something.
func drawn(p *api.Pace) []api.RunPace {
	var out []api.RunPace
	for _, r := range p.Runs {
		if len(r.Points) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// plotOf returns nil if nothing was measured, because a plotted zero would be wrong.
func plotOf(p *api.Pace, now time.Time) *plot {
	runs := drawn(p)
	if len(runs) == 0 {
		return nil
	}
	s := newPlotScale(runs, p.CeilingPerMinute)
	out := &plot{Text: plotWords(runs, p)}
	for i, r := range runs {
		out.Lines = append(out.Lines, s.line(i, r.Points))
		if i > 0 {
			out.Gaps = append(out.Gaps, plotSpan{percent(s.from[i] - s.gap), percent(s.gap)})
		}
		anchor := "start"
		if len(runs) > 1 && i == len(runs)-1 {
			anchor = "middle"
		}
		out.Ticks = append(out.Ticks, plotTick{percent(s.from[i]), anchor, ui.Moment(r.StartedAt, now)})
		for _, b := range r.Backoffs {
			rate := rateAt(r.Points, b.At)
			out.Marks = append(out.Marks, plotMark{
				X: percent(s.x(i, b.At)), Y: strconv.FormatFloat(plotTop+s.y(rate), 'f', 1, 64), Paused: b.Paused,
				Text: b.At.In(now.Location()).Format("15:04") + ", " + words.BackoffReason(b.Paused) + ", at " +
					words.RequestsPerMinute(rate),
			})
		}
	}
	if c := p.CeilingPerMinute; c != nil && *c > 0 {
		level := s.level(*c, "Ceiling, "+words.RequestRate(*c))
		out.Ceiling = &level
	}
	for _, share := range []float64{1. / 3, 2. / 3} {
		rate := s.top * share
		if out.Ceiling != nil && math.Abs(s.y(rate)-s.y(*p.CeilingPerMinute)) < labelHeight {
			continue // the ceiling's label is at this position
		}
		out.Grid = append(out.Grid, s.level(rate, words.RequestsPerMinute(rate)))
	}
	return out
}

// plotScale places moments and rates.
type plotScale struct {
	runs  []api.RunPace
	from  []float64 // where each run begins, as a share of the width
	share []float64 // how wide it is
	gap   float64
	top   float64 // the rate at the upper edge
}

func newPlotScale(runs []api.RunPace, ceiling *float64) plotScale {
	s := plotScale{runs: runs, top: 1}
	if len(runs) > 1 {
		s.gap = gapShare
	}
	var total float64
	for _, r := range runs {
		total += lasted(r)
		for _, p := range r.Points {
			s.top = max(s.top, p.PerMinute)
		}
	}
	if ceiling != nil {
		s.top = max(s.top, *ceiling)
	}
	s.top *= 1.15
	at, room := 0.0, 1-s.gap*float64(len(runs)-1)
	for _, r := range runs {
		width := room * lasted(r) / total
		s.from, s.share = append(s.from, at), append(s.share, width)
		at += width + s.gap
	}
	return s
}

// lasted is the time that a run's points cover, never less than a second.
func lasted(r api.RunPace) float64 {
	return max(r.Points[len(r.Points)-1].At.Sub(r.Points[0].At).Seconds(), 1)
}

func (s *plotScale) x(run int, at time.Time) float64 {
	r := s.runs[run]
	share := at.Sub(r.Points[0].At).Seconds() / lasted(r)
	return s.from[run] + s.share[run]*min(max(share, 0), 1)
}

func (s *plotScale) y(rate float64) float64 {
	return plotHeight * (1 - min(max(rate/s.top, 0), 1))
}

func (s *plotScale) level(rate float64, text string) plotLevel {
	y := plotTop + s.y(rate)
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
	return plotLevel{Y: f(y), TextY: f(y - 1), SubY: f(y + 14), Text: text, Every: words.RequestInterval(rate)}
}

func (s *plotScale) line(run int, points []api.PacePoint) plotLine {
	var b strings.Builder
	step := max(1, (len(points)+mostPoints-1)/mostPoints)
	first, last := "", ""
	for i := 0; i < len(points); i += step {
		if i+step >= len(points) {
			i = len(points) - 1 // the newest is always shown
		}
		x := strconv.FormatFloat(plotWidth*s.x(run, points[i].At), 'f', 1, 64)
		if first == "" {
			first = x
			b.WriteString("M")
		} else {
			b.WriteString(" L")
		}
		last = x
		fmt.Fprintf(&b, "%s %.1f", x, s.y(points[i].PerMinute))
	}
	line := b.String()
	return plotLine{Line: line, Area: fmt.Sprintf("%s L%s %.0f L%s %.0f Z", line, last, plotHeight, first, plotHeight)}
}

// rateAt is the pace at the last point before a moment.
func rateAt(points []api.PacePoint, at time.Time) float64 {
	rate := points[0].PerMinute
	for _, p := range points {
		if p.At.After(at) {
			break
		}
		rate = p.PerMinute
	}
	return rate
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + "%" }
