// Package worldmap draws the outlines of land for a page, without asking a map server.
//
// land.bin has the outlines of Natural Earth (public domain) at two scales; scripts/outline writes it from the npm
// package world-atlas. They are exact to a few kilometres, so a map of a small part of the world has no outline.
package worldmap

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"sync"
)

//go:embed land.bin
var landFile []byte

// Point is a place on the earth, in degrees.
type Point struct{ Lat, Long float64 }

// KilometresTo is the distance to another point.
func (p Point) KilometresTo(q Point) float64 {
	const radius = 6371
	rad := math.Pi / 180
	dLat, dLong := (q.Lat-p.Lat)*rad/2, (q.Long-p.Long)*rad/2
	h := math.Sin(dLat)*math.Sin(dLat) + math.Cos(p.Lat*rad)*math.Cos(q.Lat*rad)*math.Sin(dLong)*math.Sin(dLong)
	return 2 * radius * math.Asin(math.Sqrt(min(1, h)))
}

// The size of a map in its own units.
const (
	Wide, High = 1000.0, 520.0
)

const (
	// mostLat is where the projection ends.
	mostLat = 84
	// coarseFrom is how many degrees a map shows from which the coarse outline is used, and outlineFrom how many it has
	// to show to have an outline at all.
	coarseFrom  = 60
	outlineFrom = 1.5
	// mapMargin is the room around the points, and leastDegrees what a map shows at least.
	mapMargin    = .18
	leastDegrees = .02
)

// Map is a part of the world.
type Map struct {
	// Land is a path. It is empty if there is no land, or if the map is too near for an outline.
	Land string
	Near bool
	// ScaleKilometres is the length of ScaleWide units in the middle of the map.
	ScaleKilometres float64
	ScaleWide       float64
	west, north     float64 // of the projection
	perDegree       float64
}

// mercator is the projected latitude in degrees of longitude.
func mercator(lat float64) float64 {
	lat = max(-mostLat, min(mostLat, lat))
	return math.Log(math.Tan(math.Pi/4+lat*math.Pi/360)) * 180 / math.Pi
}

// Around returns a map that holds the points, of which there is at least one.
func Around(points []Point) *Map {
	west, east, south, north := 180.0, -180.0, math.Inf(1), math.Inf(-1)
	for _, p := range points {
		west, east = min(west, p.Long), max(east, p.Long)
		south, north = min(south, mercator(p.Lat)), max(north, mercator(p.Lat))
	}
	wide := max((east-west)*(1+2*mapMargin), (north-south)*(1+2*mapMargin)*Wide/High, leastDegrees)
	wide = min(wide, 360)
	m := &Map{west: (west+east)/2 - wide/2, north: (south+north)/2 + wide*High/Wide/2, perDegree: Wide / wide}
	m.west = max(-180, min(180-wide, m.west))
	m.measure((south + north) / 2)
	m.Near = wide < outlineFrom
	switch {
	case wide >= coarseFrom:
		m.Land = m.draw(land()[0], 1)
	case !m.Near:
		m.Land = m.draw(land()[1], .8)
	}
	return m
}

// measure finds a round length for the scale.
func (m *Map) measure(middle float64) {
	lat := (2*math.Atan(math.Exp(middle*math.Pi/180)) - math.Pi/2) * 180 / math.Pi
	perUnit := 111.32 * math.Cos(lat*math.Pi/180) / m.perDegree
	if perUnit <= 0 {
		perUnit = 1e-3
	}
	size := math.Pow(10, math.Floor(math.Log10(perUnit*Wide/4)))
	for _, by := range []float64{1, 2, 5} {
		if by*size <= perUnit*Wide/4 {
			m.ScaleKilometres = by * size
		}
	}
	m.ScaleWide = m.ScaleKilometres / perUnit
}

// XY is where a point is on the map.
func (m *Map) XY(p Point) (x, y float64) {
	return (p.Long - m.west) * m.perDegree, (m.north - mercator(p.Lat)) * m.perDegree
}

// draw writes the outlines that are on the map, without steps that are shorter than so many units.
func (m *Map) draw(rings [][]Point, step float64) string {
	var path strings.Builder
	const beyond = 40.0 // so that the edge of a cut is not seen
	for _, ring := range rings {
		points := make([][2]float64, 0, len(ring))
		for _, p := range ring {
			x, y := m.XY(p)
			points = append(points, [2]float64{x, y})
		}
		points = clip(points, -beyond, -beyond, Wide+beyond, High+beyond)
		last := [2]float64{math.Inf(1), 0}
		written := 0
		var one strings.Builder
		for _, p := range points {
			if math.Hypot(p[0]-last[0], p[1]-last[1]) < step {
				continue
			}
			command := "L"
			if written == 0 {
				command = "M"
			}
			fmt.Fprintf(&one, "%s%.0f %.0f", command, p[0], p[1])
			last = p
			written++
		}
		if written >= 3 {
			path.WriteString(one.String() + "Z")
		}
	}
	return path.String()
}

// clip cuts a polygon at the edges of a box (Sutherland and Hodgman).
func clip(points [][2]float64, left, top, right, bottom float64) [][2]float64 {
	for _, edge := range []struct {
		axis  int
		at    float64
		above bool
	}{{0, left, true}, {0, right, false}, {1, top, true}, {1, bottom, false}} {
		if len(points) == 0 {
			return nil
		}
		inside := func(p [2]float64) bool {
			return edge.above && p[edge.axis] >= edge.at || !edge.above && p[edge.axis] <= edge.at
		}
		var out [][2]float64
		a := points[len(points)-1]
		for _, b := range points {
			if inside(a) != inside(b) {
				t := (edge.at - a[edge.axis]) / (b[edge.axis] - a[edge.axis])
				out = append(out, [2]float64{a[0] + t*(b[0]-a[0]), a[1] + t*(b[1]-a[1])})
			}
			if inside(b) {
				out = append(out, b)
			}
			a = b
		}
		points = out
	}
	return points
}

// land is the outlines, the coarse ones first.
var land = sync.OnceValue(func() (levels [2][][]Point) {
	rest := landFile
	next := func() float64 {
		n, size := binary.Varint(rest)
		rest = rest[max(size, 0):]
		return float64(n)
	}
	for i := range levels {
		for range int(next()) {
			ring := make([]Point, int(next()))
			x, y := 0.0, 0.0
			for j := range ring {
				x += next()
				y += next()
				ring[j] = Point{Lat: y / 100, Long: x / 100}
			}
			levels[i] = append(levels[i], ring)
		}
	}
	return levels
})
