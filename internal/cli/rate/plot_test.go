package rate

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// discoveryRun is a cold start that speeds up, is refused once, and finds back.
func discoveryRun() []plotPoint {
	var out []plotPoint
	interval := 2500.0
	for i := range 100 {
		interval = max(100, interval*0.94)
		p := plotPoint{offsetMS: int64(i) * 1000, intervalMS: interval}
		if i == 70 {
			interval = 400
			p.intervalMS, p.slowed = interval, true
		}
		out = append(out, p)
	}
	return out
}

var (
	steady = []plotPoint{{intervalMS: 105}, {offsetMS: 60_000, intervalMS: 120, paused: true},
		{offsetMS: 90_000, intervalMS: 110}}
	single = []plotPoint{{offsetMS: 5, intervalMS: 250}}
)

func TestRatePlot(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		plot ratePlot
		want string
	}{
		{"nothing", ratePlot{width: 80, runs: []plotRun{{name: "1", ceilingMS: 100}}}, ``},
		{"three runs", ratePlot{width: 80, runs: []plotRun{{"1", 100, discoveryRun()}, {"2", 100, steady},
			{"3", 100, single}}}, `
   2s |***                    |                       |
      |  **                   |                       |
   1s |   **                  |                       |
500ms |    ***                |                       |
      |      **        *      |                       |
      |       ***      ***    |                       |o
200ms |         **     * **   |                       |
100ms |..........*******..****|***********************|.......................
      +-----------------------+-----------------------+-----------------------
                       ^                      w
       1                       2                       3
^ slowed down after a refusal   w the source asked for a pause   . the ceiling
o measured only once
`},
		{"three runs on a terminal", ratePlot{width: 80, unicode: true,
			runs: []plotRun{{"1", 100, discoveryRun()}, {"2", 100, steady}, {"3", 100, single}}}, `
   2s │⠙⣆                     │                       │
      │ ⠈⢳⡀                   │                       │
   1s │   ⠹⣄                  │                       │
500ms │    ⠈⢧⡀                │                       │
      │      ⠹⣄        ⣦⡀     │                       │
      │       ⠘⢦⡀      ⡇⠳⡄    │                       │●
200ms │         ⠳⡄     ⡇ ⠙⢦⡀  │                       │
100ms │┈┈┈┈┈┈┈┈┈┈⠙⢦⣀⣀⣀⣀⡇┈┈┈⢳⣀⣀│⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⡤⠤⠤⠤⠤⠤⠤⢤│┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
      └───────────────────────┴───────────────────────┴───────────────────────
                       ^                      w
       1                       2                       3
^ slowed down after a refusal   w the source asked for a pause   ┈ the ceiling
● measured only once
`},
		{"one observation is a mark and no line", ratePlot{width: 60, runs: []plotRun{{"1", 0, single}}}, `
500ms |
400ms |
300ms |
      |o
      |
200ms |
150ms |
      |
      +-----------------------------------------------------
       1
o measured only once
`},
		{"one observation on a terminal", ratePlot{width: 60, unicode: true, runs: []plotRun{{"1", 200, single}}}, `
400ms │
      │
300ms │
      │●
200ms │┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
      │
150ms │
      │
      └─────────────────────────────────────────────────────
       1
┈ the ceiling   ● measured only once
`},
		{"a pace that hardly moves looks flat", ratePlot{width: 60, runs: []plotRun{{"1", 0, steady}}}, `
200ms |
      |
150ms |
      |                                   ******************
100ms |************************************                *
 80ms |
      |
 60ms |
      +-----------------------------------------------------
                                          w
       1
w the source asked for a pause
`},
		{"the newest runs of too many",
			ratePlot{width: 20, runs: []plotRun{{"1", 0, single}, {"2", 0, single}, {"3", 0, single}, {"4", 0, steady},
				{"5", 0, single}}}, `
300ms |   |   |
      |o  |   |o
200ms |   |   |
      |   |   |
150ms |   |   |
      |   | **|
100ms |   |***|
      |   |   |
      +---+---+---
            w
       3   4   5
w the source asked for a pause
o measured only once
`},
		{"numbers beyond reason", ratePlot{width: 40,
			runs: []plotRun{{"1", 0, []plotPoint{{intervalMS: 0}, {offsetMS: 1, intervalMS: math.MaxFloat64}}}}}, `
10000s |                               *
 1000s |                               *
  100s |                               *
   10s |                               *
    1s |                               *
 100ms |                               *
  10ms |                               *
   1ms |********************************
       +--------------------------------
        1
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(strings.Trim(tt.want, "\n"), strings.Join(tt.plot.lines(), "\n")); diff != "" {
				t.Errorf("plot (-want +got):\n%s", diff)
			}
		})
	}
}

// A plot of any numbers fits, has one mark for a single observation, and puts every interval at the row of its label.
func TestRatePlotOfAnything(t *testing.T) {
	t.Parallel()
	number := rapid.OneOf(rapid.Float64Range(0, 100_000),
		rapid.SampledFrom([]float64{0, math.SmallestNonzeroFloat64, 1, 1e18, math.MaxFloat64}))
	point := rapid.Custom(func(t *rapid.T) plotPoint {
		return plotPoint{
			offsetMS: rapid.Int64Range(0, 1<<50).Draw(t, "offset"), intervalMS: number.Draw(t, "interval"),
			slowed: rapid.Bool().Draw(t, "slowed"), paused: rapid.Bool().Draw(t, "paused"),
		}
	})
	run := rapid.Custom(func(t *rapid.T) plotRun {
		return plotRun{name: "12", ceilingMS: number.Draw(t, "ceiling"), points: rapid.SliceOfN(point, 0, 120).Draw(t,
			"points")}
	})
	rapid.Check(t, func(t *rapid.T) {
		p := ratePlot{width: rapid.IntRange(20, 200).Draw(t, "width"), unicode: rapid.Bool().Draw(t, "unicode")}
		p.runs = rapid.SliceOfN(run, 0, 30).Draw(t, "runs")
		lines := p.lines()
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > max(p.width, 33) || !p.unicode && n != len(l) {
				t.Fatalf("line of %d for a width of %d: %q", n, p.width, l)
			}
		}
		measured := 0
		for _, r := range p.runs {
			measured += min(1, len(r.points))
		}
		if (len(lines) == 0) != (measured == 0) {
			t.Fatalf("%d lines for %d runs", len(lines), measured)
		}
		if len(p.runs) == 0 || measured == 0 {
			return
		}
		axis := newLogAxis(p.runs)
		labels, _ := axis.labels()
		seen := 0
		for y, l := range labels {
			if l != "" {
				seen++
				for _, ms := range axis.ticks() {
					if formatTick(ms) == l && axis.row(ms, plotRows) != y {
						t.Fatalf("%s stands at row %d, its value is at %d", l, y, axis.row(ms, plotRows))
					}
				}
			}
		}
		if seen < 2 {
			t.Fatalf("labels %q", labels)
		}
	})
}
