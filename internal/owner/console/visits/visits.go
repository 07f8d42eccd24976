// Package visits shows where the owner was: on a map of outlines, by place, and as trips.
//
// A trip is nights in a row away from the place of most nights. Nights of which nothing is known count for neither.
package visits

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/console/worldmap"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/manifest"
)

// Visits is where the owner was in a time: on a map, by place, and as trips.
type Visits struct {
	Map      *worldmap.Map
	Clusters []cluster
	Months   []visitMonth
	Chosen   string // a month like 2026-07; empty means the last 12
	Count    int
	Most     []mostVisited
	Trips    []Trip
	Partly   bool
	Span     string
}

// cluster is visits that are near each other on the map.
type cluster struct {
	X, Y, R  float64
	LabelY   float64
	Name     string
	Count    int
	Labelled bool
}

// visitMonth is a month of the slider, with how many visits it has.
type visitMonth struct {
	Label, Name string
	Count       int64
	Address     string
	Current     bool
	Y, High     string // of its bar
}

// mostVisited is a place by how long the owner was there.
type mostVisited struct {
	Name, Note, Time string
	Address          string
}

// Trip is nights in a row away from the most usual night place.
type Trip struct{ Name, Note, Address string }

// visit is one stay, or one point.
type visit struct {
	worldmap.Point
	at, end time.Time // end is zero if it is not known
	name    string
}

const (
	monthsOfPlaces = 12
	// pagesOfPlaces bounds how many pages of a stream are read for a map, and streamsOfPlaces how many streams.
	pagesOfPlaces   = 3
	pageOfPlaces    = 1000
	streamsOfPlaces = 3
	clusterSize     = 46.0 // units of the map
	labelledMost    = 8
	labelWide       = 150.0 // units that a label takes
	labelHigh       = 34.0
	placesShown     = 8
	// farAway is how many kilometres a night is from home on a trip, and knownNights how many nights make a home.
	farAway     = 20
	knownNights = 10
	// longestStay is the longest visit with an end that is believed.
	longestStay = 366 * 24 * time.Hour
)

// Finder reads visits. All members must be set.
type Finder struct {
	Owner   api.Owner
	All     *things.Streams
	Names   *things.Names
	Address string // of the page of places
}

// OfMonth reads the visits of a month like 2026-07, or of the 12 months up to now.
func (p *Finder) OfMonth(ctx context.Context, now time.Time, month string) (*Visits, error) {
	last := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	first := last.AddDate(0, 1-monthsOfPlaces, 0)
	v := &Visits{Span: "the last 12 months"}
	from, to := first, last.AddDate(0, 1, 0)
	if at, err := time.ParseInLocation("2006-01", month, now.Location()); err == nil {
		v.Chosen, from, to = month, at, at.AddDate(0, 1, 0)
		v.Span = at.Format("January 2006")
	}
	if err := p.countMonths(ctx, v, first); err != nil {
		return nil, err
	}
	return v, p.between(ctx, v, from, to)
}

// Between reads the visits from one time to another, without counting months.
func (p *Finder) Between(ctx context.Context, from, to time.Time) (*Visits, error) {
	v := &Visits{}
	return v, p.between(ctx, v, from, to)
}

func (p *Finder) between(ctx context.Context, v *Visits, from, to time.Time) error {
	var found []visit
	for _, s := range placeStreams(p.All) {
		q := api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true, Since: from, Until: to,
			Fields: s.FieldNames(), Limit: pageOfPlaces}
		for page := range pagesOfPlaces {
			read, err := p.Owner.Records(ctx, q)
			if err != nil {
				return err
			}
			for _, r := range read.Records {
				t := s.Thing(r)
				if one, ok := visitOf(p.Names, &t); ok {
					found = append(found, one)
				}
			}
			if q.Cursor = read.Next; q.Cursor == "" {
				break
			}
			v.Partly = v.Partly || page == pagesOfPlaces-1
		}
	}
	v.fill(found, from.Location())
	return nil
}

// placeStreams are the streams of places that have times, those with most records first.
func placeStreams(all *things.Streams) (out []*things.Stream) {
	for i := range all.All {
		if s := &all.All[i]; s.Kind() == manifest.KindPlace && s.Role("time") != "" && s.Records > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *things.Stream) int { return cmp.Compare(b.Records, a.Records) })
	return out[:min(len(out), streamsOfPlaces)]
}

func visitOf(n *things.Names, t *things.Thing) (visit, bool) {
	lat, long, ok := t.Coordinates()
	if !ok || t.At == nil {
		return visit{}, false
	}
	one := visit{Point: worldmap.Point{Lat: lat, Long: long}, at: *t.At,
		name: things.Calm(text.Name(n.Of(t, "title")))}
	if end, known := api.ParseMoment(t.Text("end")); known && end.After(*t.At) && end.Sub(*t.At) < longestStay {
		one.end = end
	}
	return one, true
}

// countMonths counts the visits of each month, as counted by days of UTC.
func (p *Finder) countMonths(ctx context.Context, v *Visits, first time.Time) error {
	counts, err := things.MonthCounts(ctx, p.Owner, placeStreams(p.All), first, first.AddDate(0, monthsOfPlaces, -1))
	if err != nil {
		return err
	}
	most := int64(1)
	for _, n := range counts {
		most = max(most, n)
	}
	for i := range monthsOfPlaces {
		at := first.AddDate(0, i, 0)
		month := at.Format("2006-01")
		high := 34 * float64(counts[month]) / float64(most)
		v.Months = append(v.Months, visitMonth{Label: at.Format("Jan"), Name: at.Format("January 2006"),
			Count: counts[month], Current: month == v.Chosen, Y: fmt.Sprintf("%.1f", 36-high),
			High:    fmt.Sprintf("%.1f", high),
			Address: ui.QueryAddress(p.Address, url.Values{"month": {month}})})
	}
	return nil
}

// fill draws the visits and sums them up.
func (v *Visits) fill(found []visit, zone *time.Location) {
	v.Count = len(found)
	if len(found) == 0 {
		return
	}
	points := make([]worldmap.Point, len(found))
	for i := range found {
		points[i] = found[i].Point
	}
	v.Map = worldmap.Around(points)
	v.Clusters = clustersOf(v.Map, found)
	v.Most = mostVisitedOf(found)
	v.Trips = tripsOf(found, zone)
}

// clustersOf joins visits that are in the same part of the map.
func clustersOf(m *worldmap.Map, found []visit) (out []cluster) {
	type sum struct {
		x, y  float64
		count int
		names map[string]int
	}
	cells := map[[2]int]*sum{}
	for _, one := range found {
		x, y := m.XY(one.Point)
		at := [2]int{int(math.Floor(x / clusterSize)), int(math.Floor(y / clusterSize))}
		c := cells[at]
		if c == nil {
			c = &sum{names: map[string]int{}}
			cells[at] = c
		}
		c.x, c.y, c.count = c.x+x, c.y+y, c.count+1
		if one.name != "" {
			c.names[one.name]++
		}
	}
	most := 1
	for _, c := range cells {
		most = max(most, c.count)
	}
	for _, c := range cells {
		r := 7 + 19*math.Sqrt(float64(c.count)/float64(most))
		x, y := c.x/float64(c.count), c.y/float64(c.count)
		out = append(out, cluster{X: x, Y: y, R: r, LabelY: y + r + 16, Name: mostFrequent(c.names), Count: c.count})
	}
	slices.SortFunc(out, func(a, b cluster) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name), cmp.Compare(a.X, b.X),
			cmp.Compare(a.Y, b.Y))
	})
	labelClusters(out)
	return out
}

// labelClusters labels those with most visits: a name once, and none where it would cover another.
func labelClusters(all []cluster) {
	named := map[string]bool{}
	var at [][2]float64
	for i := range all {
		c := &all[i]
		x, y := c.X, c.LabelY
		if c.Name == "" || named[c.Name] || len(at) == labelledMost || slices.ContainsFunc(at, func(p [2]float64) bool {
			return math.Abs(p[0]-x) < labelWide && math.Abs(p[1]-y) < labelHigh
		}) {
			continue
		}
		c.Labelled, named[c.Name] = true, true
		at = append(at, [2]float64{x, y})
	}
}

func mostFrequent(names map[string]int) (most string) {
	for name, n := range names {
		if n > names[most] || n == names[most] && name < most {
			most = name
		}
	}
	return most
}

// mostVisitedOf lists the places with a name by the time that was spent there.
func mostVisitedOf(found []visit) (out []mostVisited) {
	spent, count := map[string]time.Duration{}, map[string]int{}
	for _, one := range found {
		if one.name == "" {
			continue
		}
		count[one.name]++
		if !one.end.IsZero() {
			spent[one.name] += one.end.Sub(one.at)
		}
	}
	var names []string
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(spent[b], spent[a]), cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	for _, name := range names[:min(len(names), placesShown)] {
		one := mostVisited{Name: name, Note: text.Count(int64(count[name]), "visit", "visits"),
			Address: ui.QueryAddress("/search", url.Values{"q": {name}})}
		if hours := int64(spent[name].Hours()); hours > 0 {
			one.Time = text.Number(hours) + " h"
		} else if spent[name] > 0 {
			one.Time = words.ShortSpan(int64(spent[name] / time.Second))
		}
		out = append(out, one)
	}
	return out
}

// tripsOf finds nights in a row away from the place of most nights. Without enough nights with a known place there
// is no home, and no trip.
func tripsOf(found []visit, zone *time.Location) (out []Trip) {
	nights := map[time.Time]visit{}
	for _, one := range found {
		if one.end.IsZero() || one.name == "" {
			continue
		}
		at := one.at.In(zone)
		for day := midnight(at); day.Before(one.end); day = day.AddDate(0, 0, 1) {
			if three := day.Add(3 * time.Hour); !one.at.After(three) && one.end.After(three) {
				nights[day] = one
			}
		}
	}
	counts := map[string]int{}
	for _, one := range nights {
		counts[one.name]++
	}
	home := mostFrequent(counts)
	if counts[home] < knownNights {
		return nil
	}
	var homeAt worldmap.Point
	var days []time.Time
	for day, one := range nights {
		days = append(days, day)
		if one.name == home {
			homeAt = one.Point
		}
	}
	slices.SortFunc(days, time.Time.Compare)
	away := func(day time.Time) bool {
		one, known := nights[day]
		return known && one.name != home && one.KilometresTo(homeAt) > farAway
	}
	for i := 0; i < len(days); i++ {
		if !away(days[i]) {
			continue
		}
		names := map[string]int{}
		end := days[i]
		for ; away(end); end = end.AddDate(0, 0, 1) {
			names[nights[end].name]++
		}
		n := int64(end.Sub(days[i]).Round(24*time.Hour) / (24 * time.Hour))
		out = append(out, Trip{Name: mostFrequent(names), Address: "/day/" + days[i].Format(time.DateOnly),
			Note: days[i].Format("2 January") + " to " + end.Format("2 January 2006") + ", " +
				text.Count(n, "night", "nights")})
		for i+1 < len(days) && days[i+1].Before(end) {
			i++
		}
	}
	slices.Reverse(out)
	return out
}

// sentence describes the visits.
func (v *Visits) sentence() string {
	if v.Count == 0 {
		return "No visits in " + v.Span + "."
	}
	line := text.Count(int64(v.Count), "visit", "visits") + " in " + v.Span
	if len(v.Trips) > 0 {
		line += "; away " + text.Count(int64(len(v.Trips)), "time", "times")
	}
	return line + "."
}

// label is the map in a sentence.
func (v *Visits) label() string {
	var parts []string
	others := 0
	for _, c := range v.Clusters {
		if !c.Labelled {
			others += c.Count
			continue
		}
		parts = append(parts, text.Count(int64(c.Count), "visit", "visits")+" around "+c.Name)
	}
	if others > 0 {
		parts = append(parts, text.Count(int64(others), "visit", "visits")+" elsewhere")
	}
	return "Map, north up: " + text.List(parts) + "."
}

// scale writes the length of the scale.
func (v *Visits) scale() string {
	if km := v.Map.ScaleKilometres; km < 1 {
		return things.Figure(math.Round(km*1000), -1) + " m"
	}
	return things.Figure(v.Map.ScaleKilometres, -1) + " km"
}

// units writes a length on the map.
func units(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}
