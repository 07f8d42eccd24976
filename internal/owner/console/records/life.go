package records

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// lifeTable is every source over the years: what is here, and what may be missing.
type lifeTable struct {
	Years   []string // the newest last
	Marks   []yearMark
	Rows    []lifeRow
	Partial bool // some rows have months that may be a part of what there is
}

// yearMark is a year above the drawings. X is in percent of their width.
type yearMark struct {
	X    int
	Year string
}

// lifeRow is a source. Here, Part and Missing are paths in a drawing of 1000 by 20.
type lifeRow struct {
	api.KeptSource
	Here, Part, Missing string
	Label               string
	Years               []lifeYear
}

// lifeYear is a year of a source in numbers.
type lifeYear struct {
	Records int64
	State   string
}

// The size of a drawing in its own units. The page stretches it.
const lifeWide, lifeHigh = 1000, 20

// mostLifeYears bounds the years of the table; older ones are drawn only.
const mostLifeYears = 12

// lifeAxis is the time from the first of January of the first year up to today.
type lifeAxis struct{ first, end time.Time }

// x is where a day begins.
func (a lifeAxis) x(day time.Time) float64 {
	at := day.Sub(a.first).Hours() / a.end.Sub(a.first).Hours() * lifeWide
	return min(lifeWide, max(0, at))
}

// lifeOf draws what is kept. It uses the facts of the sources' verdicts, and adds none.
func lifeOf(k *api.Kept) lifeTable {
	var out lifeTable
	if k.FirstDay == "" {
		for _, s := range k.Sources {
			out.Rows = append(out.Rows, lifeRow{KeptSource: s})
		}
		return out
	}
	last := parseDay(max(k.LastDay, k.Today))
	axis := lifeAxis{time.Date(parseDay(k.FirstDay).Year(), 1, 1, 0, 0, 0, 0, time.UTC), last.AddDate(0, 0, 1)}
	years := last.Year() - axis.first.Year() + 1
	for year := axis.first.Year(); year <= last.Year(); year++ {
		if (year-axis.first.Year())%max(1, (years+5)/6) == 0 {
			out.Marks = append(out.Marks, yearMark{int(axis.x(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))) * 100 / lifeWide,
				strconv.Itoa(year)})
		}
		if last.Year()-year < mostLifeYears {
			out.Years = append(out.Years, strconv.Itoa(year))
		}
	}
	for _, s := range k.Sources {
		row := axis.row(k, s, out.Years)
		out.Partial = out.Partial || row.Part != ""
		out.Rows = append(out.Rows, row)
	}
	return out
}

// row draws a source: solid where it was read to its end, half where it was not, hatched after it was last read.
func (a lifeAxis) row(k *api.Kept, s api.KeptSource, years []string) lifeRow {
	row := lifeRow{KeptSource: s}
	box := func(from, to float64, top int) string {
		return fmt.Sprintf("M%.1f %dH%.1fV%dH%.1fZ", from, top, max(to, from+2), lifeHigh, from)
	}
	var here, part, missing strings.Builder
	for _, c := range s.Covered {
		from, to := a.x(parseDay(c.From)), a.x(parseDay(c.To).AddDate(0, 0, 1))
		if WholeSpan(k, &s, c) {
			here.WriteString(box(from, to, 0))
		} else {
			part.WriteString(box(from, to, lifeHigh/2))
			missing.WriteString(box(from, to, 0))
		}
		if !s.Complete && c.To < k.Today {
			missing.WriteString(box(to, a.x(parseDay(k.Today).AddDate(0, 0, 1)), 0))
		}
	}
	for _, m := range s.Months { // records that no run has accounted for
		if day := m.Month + "-01"; coverAt(k, &s, day, m.Month+"-31") == "" {
			from := parseDay(day)
			part.WriteString(box(a.x(from), a.x(from.AddDate(0, 1, 0)), lifeHigh/2))
		}
	}
	row.Here, row.Part, row.Missing = here.String(), part.String(), missing.String()
	row.Label = text.Cut(text.Line(s.Name), ui.LongestCell) + ": " + s.Say
	for _, year := range years {
		one := lifeYear{State: coverAt(k, &s, year+"-01-01", year+"-12-31")}
		for _, m := range s.Months {
			if strings.HasPrefix(m.Month, year) {
				one.Records += m.Records
			}
		}
		row.Years = append(row.Years, one)
	}
	return row
}

// coverAt returns what is known of a stretch of days: whole, in part, or nothing.
func coverAt(k *api.Kept, s *api.KeptSource, from, to string) string {
	state := ""
	for _, c := range s.Covered {
		switch {
		case c.To < from || to < c.From:
		case WholeSpan(k, s, c):
			return "complete"
		default:
			state = "in part"
		}
	}
	return state
}

// words describe a year of a source in the table.
func (y lifeYear) words() string {
	switch {
	case y.Records == 0 && y.State == "":
		return "–"
	case y.State == "":
		return text.Number(y.Records) + ", not known whether all"
	case y.Records == 0:
		return "nothing, " + y.State
	}
	return text.Number(y.Records) + ", " + y.State
}

// WholeSpan reports whether everything of a span of a source is here. A source that was read until today and still
// lacks something lacks it at a date that is not known.
func WholeSpan(k *api.Kept, s *api.KeptSource, span api.Covered) bool {
	return span.Whole && (s.Complete || span.To < k.Today)
}
