package status

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Each run is a line above an area that spans from its first point to its last. Runs are separated
// by a gap, and back-offs are marked.
func TestPaceIsDrawnRunByRun(t *testing.T) {
	points := func(from time.Time, rates ...float64) (out []api.PacePoint) {
		for i, r := range rates {
			out = append(out, api.PacePoint{At: from.Add(time.Duration(i) * time.Minute), PerMinute: r})
		}
		return out
	}
	ceiling := 100.0
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
	k.pace = api.Pace{CeilingPerMinute: &ceiling, Runs: []api.RunPace{
		{RunID: "run_1", StartedAt: noon.Add(-2 * time.Hour), Points: points(noon.Add(-2*time.Hour), 0, 115)},
		{RunID: "run_0", StartedAt: noon.Add(-time.Hour)},
		{RunID: "run_2", StartedAt: noon, Points: points(noon, 57.5, 115),
			Backoffs: []api.Backoff{{At: noon.Add(30 * time.Second), Paused: true}}},
	}}
	p := plotOf(&k.pace, noon)
	if len(p.Lines) != 2 || len(p.Gaps) != 1 || len(p.Ticks) != 2 || len(p.Marks) != 1 {
		t.Fatalf("%+v", p)
	}
	for i, want := range []plotLine{
		{"M0.0 180.0 L480.0 23.5", "M0.0 180.0 L480.0 23.5 L480.0 180 L0.0 180 Z"},
		{"M520.0 101.7 L1000.0 23.5", "M520.0 101.7 L1000.0 23.5 L1000.0 180 L520.0 180 Z"},
	} {
		if p.Lines[i] != want {
			t.Errorf("run %d is drawn as %+v", i, p.Lines[i])
		}
	}
	if m := p.Marks[0]; m.X != percent(0.76) || m.Y != "109.7" || !m.Paused ||
		!strings.Contains(m.Text, "at 58 a minute") {
		t.Errorf("the mark is %+v", m)
	}
	if p.Ceiling == nil || !strings.HasPrefix(p.Ceiling.Text, "Ceiling, 100") {
		t.Errorf("the ceiling is %+v", p.Ceiling)
	}
	if len(p.Grid) != 1 { // the other level would be written over the ceiling's label
		t.Errorf("the grid is %+v", p.Grid)
	}
	ceiling = 115
	if p := plotOf(&k.pace, noon); len(p.Grid) != 2 {
		t.Errorf("where the ceiling is far from it the grid is %+v", p.Grid)
	}
	ceiling = 100
	shown := page(t, serve(k), "/sources/con_a")
	if len(find(shown, "d", p.Lines[1].Area)) != 1 || len(find(shown, "d", p.Lines[0].Line)) != 1 {
		t.Error("the page does not draw it")
	}
}

// However long a run was, its line has a bounded number of points, and ends with the newest.
func TestLongPaceIsThinned(t *testing.T) {
	var all []api.PacePoint
	for i := range 3*mostPoints + 6 {
		all = append(all, api.PacePoint{At: noon.Add(time.Duration(i) * time.Second), PerMinute: float64(i)})
	}
	p := plotOf(&api.Pace{Runs: []api.RunPace{{Points: all}}}, noon)
	if n := strings.Count(p.Lines[0].Line, "L"); n < mostPoints/2 || n > mostPoints ||
		!strings.Contains(p.Lines[0].Line, " L1000.0 23.5") {
		t.Errorf("%d pieces, up to %s", n, p.Lines[0].Line[len(p.Lines[0].Line)-20:])
	}
	if plotOf(&api.Pace{Runs: []api.RunPace{{}}}, noon) != nil {
		t.Error("nothing was measured, and something is drawn")
	}
}
