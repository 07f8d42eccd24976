package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"
)

// These are the dimensions of the sheet in pixels. Each scene has a panel, and the panels are
// stacked vertically.
const (
	width, left, right = 760, 64, 16
	head, panel, inner = 60, 200, 130
	plotWidth          = width - left - right
)

// slowest is the interval at the top of every panel.
const slowest = 5 * time.Second

// The colours keep their distance from white and from black alike, because the
// sheet has no background of its own.
const style = `text{font:12px system-ui,sans-serif;fill:#7a828c}
.title{font-weight:600}
.grid{stroke:#7a828c;stroke-opacity:.25}
.frame{fill:none;stroke:#7a828c;stroke-opacity:.6}
.pace{fill:none;stroke:#3b82f6;stroke-width:1.6;stroke-linejoin:round}
.limit{fill:none;stroke:#d97706;stroke-width:1.6;stroke-dasharray:6 4}
.refusal{fill:#e5484d}`

// draw returns the plot as SVG. The same scenes produce the same bytes.
func draw(all []scene) []byte {
	var b bytes.Buffer
	height := head + panel*len(all) - 20
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		width, height, width, height)
	b.WriteString("<title>Interval between requests over time, against three simulated providers</title>\n")
	fmt.Fprintf(&b, "<style>%s</style>\n", style)
	legend(&b)
	for i := range all {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", left, head+panel*i)
		all[i].draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func legend(b *bytes.Buffer) {
	fmt.Fprintf(b, `<path class="pace" d="M%d 16h28"/><text x="%d" y="20">interval between requests</text>`+"\n", left,
		left+36)
	fmt.Fprintf(b, `<path class="limit" d="M%d 16h28"/><text x="%d" y="20">what the provider allows</text>`+"\n", left+216,
		left+252)
	fmt.Fprintf(b, `<circle class="refusal" cx="%d" cy="16" r="3.5"/><text x="%d" y="20">refusal</text>`+"\n", left+432,
		left+444)
}

// x returns the horizontal position of a time in the scene.
func (s *scene) x(at time.Duration) float64 {
	return plotWidth * at.Seconds() / s.length.Seconds()
}

// y returns the vertical position of an interval on a logarithmic scale, from the ceiling at the
// bottom to the slowest at the top.
func y(interval time.Duration) float64 {
	interval = min(max(interval, ceiling), slowest)
	return inner * (1 - math.Log(interval.Seconds()/ceiling.Seconds())/math.Log(slowest.Seconds()/ceiling.Seconds()))
}

func (s *scene) draw(b *bytes.Buffer) {
	fmt.Fprintf(b, `<text class="title" x="0" y="-8">%s</text>`+"\n", s.title)
	for _, i := range []time.Duration{ceiling, 200 * time.Millisecond, 500 * time.Millisecond, time.Second,
		2 * time.Second, slowest} {
		fmt.Fprintf(b, `<path class="grid" d="M0 %.1fh%d"/><text x="-8" y="%.1f" text-anchor="end">%g s</text>`+"\n", y(i),
			plotWidth, y(i)+4, i.Seconds())
	}
	step := 5 * time.Minute
	if s.length <= 20*time.Minute {
		step = 2 * time.Minute
	}
	for at := time.Duration(0); at <= s.length; at += step {
		fmt.Fprintf(b, `<path class="grid" d="M%.1f 0v%d"/><text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n",
			s.x(at), inner, s.x(at), inner+16, at.Minutes())
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">minutes</text>`+"\n", plotWidth/2, inner+32)
	fmt.Fprintf(b, `<text transform="translate(-48 %d) rotate(-90)" text-anchor="middle">interval</text>`+"\n", inner/2)
	fmt.Fprintf(b, `<path class="frame" d="M0 0h%dv%dh-%dz"/>`+"\n", plotWidth, inner, plotWidth)

	var pace, limit steps
	for _, p := range s.samples {
		pace.to(s.x(p.At), y(p.Interval))
		limit.to(s.x(p.At), y(time.Duration(float64(time.Second)/p.Limit)))
	}
	fmt.Fprintf(b, `<path class="pace" d="%s"/>`+"\n", pace.path(plotWidth))
	fmt.Fprintf(b, `<path class="limit" d="%s"/>`+"\n", limit.path(plotWidth))
	for _, r := range s.refusals {
		fmt.Fprintf(b, `<circle class="refusal" cx="%.1f" cy="%.1f" r="3"/>`+"\n", s.x(r.at), y(r.interval))
	}
}

// steps is a line that keeps its height until it jumps.
type steps struct {
	d    strings.Builder
	last string
}

func (s *steps) to(x, y float64) {
	height := fmt.Sprintf("%.1f", y)
	switch {
	case s.last == "":
		fmt.Fprintf(&s.d, "M%.1f %s", x, height)
	case height != s.last:
		fmt.Fprintf(&s.d, "H%.1fV%s", x, height)
	}
	s.last = height
}

func (s *steps) path(end float64) string { return fmt.Sprintf("%sH%.1f", s.d.String(), end) }
