package rate

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// ratePlot draws the interval between requests over some runs as lines of text. Every run has the same width. The axis
// of intervals is logarithmic and covers at least a factor of four, so that small changes look small.
type ratePlot struct {
	runs    []plotRun // oldest first
	width   int       // columns at most
	unicode bool      // braille and box characters instead of ASCII
}

// plotRun is one run of the plot.
type plotRun struct {
	name      string
	ceilingMS float64 // zero when it is not known
	points    []plotPoint
}

// plotPoint is the interval at an offset from the run's start. Slowed marks a refusal, paused a wait that the provider
// requested.
type plotPoint struct {
	offsetMS       int64
	intervalMS     float64
	slowed, paused bool
}

func newPlotRun(name string, r api.RunPace) plotRun {
	out := plotRun{name: name}
	if r.CeilingPerMinute != nil {
		out.ceilingMS = 60_000 / *r.CeilingPerMinute
	}
	for _, p := range r.Points {
		point := plotPoint{offsetMS: p.At.Sub(r.StartedAt).Milliseconds(), intervalMS: 60_000 / p.PerMinute}
		for _, b := range r.Backoffs {
			if b.At.Equal(p.At) {
				point.paused, point.slowed = b.Paused, !b.Paused
			}
		}
		out.points = append(out.points, point)
	}
	return out
}

const (
	plotRows         = 8
	fewestRunColumns = 3 // columns of a run
)

// plotGlyphs are the characters of a plot. One cell holds wide x high dots.
type plotGlyphs struct {
	wide, high                                     int
	side, origin, corner, floor, ceiling, solitary rune
}

var (
	asciiGlyphs = plotGlyphs{wide: 1, high: 1, side: '|', origin: '+', corner: '+', floor: '-', ceiling: '.',
		solitary: 'o'}
	brailleGlyphs = plotGlyphs{wide: 2, high: 4, side: '│', origin: '└', corner: '┴', floor: '─', ceiling: '┈',
		solitary: '●'}
)

// brailleDots are the bits of a braille cell by row and column.
var brailleDots = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// lines draws the plot. It returns nil when no run has a point.
func (p ratePlot) lines() []string {
	g := asciiGlyphs
	if p.unicode {
		g = brailleGlyphs
	}
	p.runs = slices.DeleteFunc(slices.Clone(p.runs), func(r plotRun) bool { return len(r.points) == 0 })
	if len(p.runs) == 0 {
		return nil
	}
	axis := newLogAxis(p.runs)
	labels, gutter := axis.labels()
	room := max(p.width-gutter-2, fewestRunColumns)
	p.runs = p.runs[max(0, len(p.runs)-(room+1)/(fewestRunColumns+1)):] // the newest that fit
	share := (room+1)/len(p.runs) - 1

	rows := make([]strings.Builder, plotRows)
	var floor, marks, names strings.Builder
	for i, r := range p.runs {
		if i > 0 {
			for y := range rows {
				rows[y].WriteRune(g.side)
			}
			floor.WriteRune(g.corner)
			marks.WriteByte(' ')
			names.WriteByte(' ')
		}
		for y, cells := range r.draw(axis, g, share) {
			rows[y].WriteString(string(cells))
		}
		floor.WriteString(strings.Repeat(string(g.floor), share))
		marks.WriteString(r.marks(share))
		names.WriteString(padToWidth(r.name, share))
	}
	out := make([]string, 0, plotRows+3)
	for y := range rows {
		out = append(out, strings.Repeat(" ", gutter-len(labels[y]))+labels[y]+" "+string(g.side)+rows[y].String())
	}
	indent := strings.Repeat(" ", gutter+1)
	out = append(out, indent+string(g.origin)+floor.String())
	if strings.TrimSpace(marks.String()) != "" {
		out = append(out, indent+" "+marks.String())
	}
	out = append(out, indent+" "+names.String())
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return append(out, p.legend(g, share)...)
}

// draw returns the cells of one run, row by row. The interval holds from one observation to the next. A run with one
// observation is a mark, not a line.
func (r plotRun) draw(axis logAxis, g plotGlyphs, columns int) [][]rune {
	cells := make([][]rune, plotRows)
	for y := range cells {
		cells[y] = []rune(strings.Repeat(" ", columns))
	}
	dot := func(x, y int) {
		cell := &cells[y/g.high][x/g.wide]
		switch {
		case g.high == 1:
			*cell = '*'
		case *cell == ' ':
			*cell = 0x2800 | brailleDots[y%4][x%2]
		default:
			*cell |= brailleDots[y%4][x%2]
		}
	}
	wide, high := columns*g.wide, plotRows*g.high
	x, y := r.place(r.points[0], wide), axis.row(r.points[0].intervalMS, high)
	dot(x, y)
	for _, next := range r.points[1:] {
		toX, toY := r.place(next, wide), axis.row(next.intervalMS, high)
		for ; x < toX; x++ {
			dot(x, y)
		}
		for ; y != toY; y += signOf(toY - y) {
			dot(x, y)
		}
		dot(x, y)
	}
	if len(r.points) == 1 {
		cells[y/g.high][x/g.wide] = g.solitary
	}
	if r.ceilingMS > 0 {
		row := cells[axis.row(r.ceilingMS, plotRows)]
		for i, c := range row {
			if c == ' ' {
				row[i] = g.ceiling
			}
		}
	}
	return cells
}

// place returns the column of a point.
func (r plotRun) place(p plotPoint, wide int) int {
	first, last := r.points[0].offsetMS, r.points[len(r.points)-1].offsetMS
	if last <= first {
		return 0
	}
	at := float64(p.offsetMS-first) / float64(last-first)
	return min(max(int(math.Round(at*float64(wide-1))), 0), wide-1)
}

const (
	refusedMark = '^'
	waitMark    = 'w'
)

// marks returns the row that shows where the pace slowed down. A refusal hides a wait in the same column.
func (r plotRun) marks(columns int) string {
	row := []rune(strings.Repeat(" ", columns))
	for _, p := range r.points {
		x := r.place(p, columns)
		switch {
		case p.slowed:
			row[x] = refusedMark
		case p.paused && row[x] == ' ':
			row[x] = waitMark
		}
	}
	return string(row)
}

// legend explains the marks that the plot uses.
func (p ratePlot) legend(g plotGlyphs, share int) []string {
	var out []string
	add := func(sign rune, meaning string, used func(plotRun) bool) {
		if !slices.ContainsFunc(p.runs, used) {
			return
		}
		entry, last := string(sign)+" "+meaning, len(out)-1
		if last >= 0 && utf8.RuneCountInString(out[last])+3+len(entry) <= p.width {
			out[last] += "   " + entry
		} else {
			out = append(out, entry)
		}
	}
	marked := func(sign rune) func(plotRun) bool {
		return func(r plotRun) bool { return strings.ContainsRune(r.marks(share), sign) }
	}
	add(refusedMark, words.BackoffReason(false), marked(refusedMark))
	add(waitMark, words.BackoffReason(true), marked(waitMark))
	add(g.ceiling, "the ceiling", func(r plotRun) bool { return r.ceilingMS > 0 })
	add(g.solitary, "measured only once", func(r plotRun) bool { return len(r.points) == 1 })
	return out
}

func padToWidth(s string, width int) string {
	if len(s) > width {
		return s[:width]
	}
	return s + strings.Repeat(" ", width-len(s))
}

func signOf(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}
