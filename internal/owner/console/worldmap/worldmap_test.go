package worldmap

import (
	"math"
	"strings"
	"testing"
)

// The file holds every continent, and nothing off the earth.
func TestLand(t *testing.T) {
	t.Parallel()
	levels := land()
	for i, rings := range levels {
		points := 0
		for _, ring := range rings {
			points += len(ring)
			for _, p := range ring {
				if math.Abs(p.Lat) > 90 || math.Abs(p.Long) > 180 {
					t.Fatalf("level %d has %+v", i, p)
				}
			}
		}
		for name, p := range map[string]Point{"Europe": {50, 15}, "Africa": {5, 20}, "Asia": {50, 90},
			"North America": {45, -100}, "South America": {-15, -55}, "Australia": {-25, 134}} {
			if !inside(rings, p) {
				t.Errorf("level %d lacks %s", i, name)
			}
		}
		for name, p := range map[string]Point{"Atlantic": {30, -40}, "Pacific": {0, -140}, "North Sea": {56, 3}} {
			if inside(rings, p) {
				t.Errorf("level %d has land in the %s", i, name)
			}
		}
		t.Logf("level %d: %d rings, %d points", i, len(rings), points)
	}
}

// inside counts how often a line from the point to the east crosses the outlines.
func inside(rings [][]Point, p Point) bool {
	in := false
	for _, ring := range rings {
		a := ring[len(ring)-1]
		for _, b := range ring {
			if (a.Lat > p.Lat) != (b.Lat > p.Lat) && p.Long < a.Long+(p.Lat-a.Lat)/(b.Lat-a.Lat)*(b.Long-a.Long) {
				in = !in
			}
			a = b
		}
	}
	return in
}

// Every point is on its map, wherever it is, and the path of the outline stays small.
func TestAround(t *testing.T) {
	t.Parallel()
	for name, points := range map[string][]Point{
		"one place": {{54.97, -1.6}}, "a region": {{54.97, -1.6}, {54.48, -.59}}, "the date line": {{-17, 179.9}, {-17,
			-179.9}},
		"the world": {{60, -150}, {-45, 170}}, "the poles": {{90, 0}, {-90, 0}}, "Europe": {{60, 10}, {38, -9}, {41, 29}},
	} {
		m := Around(points)
		for _, p := range points {
			x, y := m.XY(p)
			if name != "the poles" && (x < 0 || x > Wide || y < 0 || y > High) {
				t.Errorf("%s: %+v is at %.0f %.0f", name, p, x, y)
			}
		}
		if len(m.Land) > 45_000 || strings.Contains(m.Land, "NaN") || m.ScaleWide <= 0 || m.ScaleWide > Wide {
			t.Errorf("%s: %d bytes, a scale of %.0f", name, len(m.Land), m.ScaleWide)
		}
		if near := name == "one place"; near != (m.Land == "") {
			t.Errorf("%s: the outline has %d bytes", name, len(m.Land))
		}
	}
	if d := (Point{54.97, -1.6}).KilometresTo(Point{54.48, -.59}); math.Abs(d-85) > 2 {
		t.Errorf("%.1f km", d)
	}
}
