package figures

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

// measure is one thing that was measured, day by day.
type measure struct {
	Name, Unit string
	Stream     *things.Stream
	Sums       bool // the values of a day are added up; otherwise their mean is taken
	days       map[time.Time]*measuredDay
}

// measuredDay is what was measured on a day.
type measuredDay struct {
	sum, low, high float64
	count          int
}

// addedUnits are the units of amounts: those of a day are added up.
var addedUnits = []string{"steps", "m", "km", "mi", "kcal", "kj", "cal", "floors", "l", "ml", "h", "hr", "hours", "min",
	"minutes", "s", "seconds", "count"}

// measuresOf sorts what was read into measures, those with most days first.
func measuresOf(n *things.Names, all []streamReading, zone *time.Location) []*measure {
	type identity struct {
		of         *things.Stream
		name, unit string
	}
	found := map[identity]*measure{}
	for _, r := range all {
		for i := range r.things {
			t := &r.things[i]
			value, ok := t.Number("value")
			if !ok || math.IsNaN(value) || math.IsInf(value, 0) {
				continue
			}
			is := identity{r.of, text.Name(n.Of(t, "series")), cmp.Or(t.Line("unit", 24), r.of.Display.Unit)}
			m := found[is]
			if m == nil {
				m = &measure{Name: cmp.Or(is.name, r.of.Label), Unit: is.unit, Stream: r.of,
					Sums: slices.Contains(addedUnits, strings.ToLower(is.unit)), days: map[time.Time]*measuredDay{}}
				found[is] = m
			}
			m.add(dayOf(t, zone), value)
		}
	}
	out := make([]*measure, 0, len(found))
	for _, m := range found {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *measure) int {
		return cmp.Or(cmp.Compare(len(b.days), len(a.days)), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Unit, b.Unit), strings.Compare(a.Stream.Path(), b.Stream.Path()))
	})
	return out
}

func (m *measure) add(day time.Time, value float64) {
	d := m.days[day]
	if d == nil {
		d = &measuredDay{low: value, high: value}
		m.days[day] = d
	}
	d.sum += value
	d.count++
	d.low, d.high = min(d.low, value), max(d.high, value)
}

// value is the value of a day.
func (m *measure) value(d *measuredDay) float64 {
	if m.Sums {
		return d.sum
	}
	return d.sum / float64(d.count)
}

// fill puts the days into buckets. The value of a bucket is the mean of its measured days.
func (m *measure) fill(all []bucket) {
	for day, d := range m.days {
		i, found := slices.BinarySearchFunc(all, day, func(b bucket, day time.Time) int {
			switch {
			case !b.To.After(day):
				return -1
			case b.From.After(day):
				return 1
			}
			return 0
		})
		if !found {
			continue
		}
		b, v := &all[i], m.value(d)
		low, high := d.low, d.high
		if m.Sums {
			low, high = v, v
		}
		if b.Known == 0 {
			b.Low, b.High = low, high
		}
		b.Low, b.High = min(b.Low, low), max(b.High, high)
		b.Value += v
		b.Known++
	}
	for i := range all {
		if b := &all[i]; b.Known > 0 {
			b.Value /= float64(b.Known)
		} else {
			b.Unknown = true
		}
	}
}

// between is the mean of the measured days from one day up to and including another, and how many there are. A day
// that is not over is left out of what is added up.
func (m *measure) between(first, last, today time.Time) (mean float64, days int) {
	for day, d := range m.days {
		if day.Before(first) || day.After(last) || m.Sums && day.Equal(today) {
			continue
		}
		mean += m.value(d)
		days++
	}
	return mean / float64(max(1, days)), days
}

// usual is the range in which 8 of 10 days were; it is not known from less than 10 days.
func (m *measure) usual(first, last time.Time) (low, high float64, known bool) {
	var all []float64
	for day, d := range m.days {
		if !day.Before(first) && !day.After(last) {
			all = append(all, m.value(d))
		}
	}
	if len(all) < 10 {
		return 0, 0, false
	}
	slices.Sort(all)
	return all[len(all)/10], all[len(all)-1-len(all)/10], true
}

// with writes a value with its unit, rounded for people.
func (m *measure) with(v float64) string {
	if m.Unit == "h" {
		return things.Measured(v, m.Unit)
	}
	return rounded(v) + things.After(" ", m.Unit)
}

// rounded writes a number with as many digits as people read.
func rounded(v float64) string {
	if math.Abs(v) >= 100 {
		v = math.Round(v)
	}
	return things.Figure(math.Round(v*10)/10, -1)
}
