package status

import (
	"fmt"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

// revoked is the status of a connection that the owner ended. Only the owner brings the files of a manualSource.
const (
	revoked      = "revoked"
	manualSource = "manual"
)

// cover is the picture of how much of a source is here, from its first day or the last year to today.
type cover struct {
	Label string // what the picture shows, in a sentence
	Span  string // the time that it shows
	Bars  []coverRect
	// NotOffered is a line where the provider does not offer a part of it; empty if there is none.
	NotOffered string
	Years      []coverYear
}

// coverRect is a span of time. Class is cv-yes for what is here and cv-miss for what is missing and can be fetched.
type coverRect struct{ Class, X, Width, Y, Height string }

// coverYear is the beginning of a year on the axis.
type coverYear struct{ X, Year string }

// coverLength and coverHeight are the size of the picture in its own units.
const (
	coverLength = 1000.0
	coverHeight = 20
)

// leastCover is how much time a picture shows at least, and lateCover how old the newest answer of a source may be
// before what followed counts as missing.
const (
	leastCover = 365
	lateCover  = 2
)

func keptSource(all *api.Kept, id string) *api.KeptSource {
	for i := range all.Sources {
		if all.Sources[i].ConnectionID == id {
			return &all.Sources[i]
		}
	}
	return nil
}

// coverAxis maps days to the length of the picture.
type coverAxis struct {
	first, last time.Time
	days        float64
}

func newCoverAxis(first, today string) (coverAxis, bool) {
	last, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return coverAxis{}, false
	}
	begin, err := time.Parse(time.DateOnly, first)
	if err != nil {
		return coverAxis{}, false
	}
	if least := last.AddDate(0, 0, -leastCover); begin.After(least) {
		begin = least
	}
	begin = time.Date(begin.Year(), begin.Month(), 1, 0, 0, 0, 0, time.UTC)
	return coverAxis{begin, last, last.Sub(begin).Hours()/24 + 1}, true
}

// x returns where a day begins. A time outside the axis is at its nearer end.
func (a coverAxis) x(day time.Time) float64 {
	return min(max(day.Sub(a.first).Hours()/24, 0), a.days) * coverLength / a.days
}

// add appends a span up to and including the day to, unless it is empty.
func (a coverAxis) add(all []coverRect, class string, from, to time.Time, y, height int) []coverRect {
	x, end := a.x(from), a.x(to.AddDate(0, 0, 1))
	if end <= x {
		return all
	}
	return append(all, coverRect{class, coverNumber(x), coverNumber(end - x), strconv.Itoa(y), strconv.Itoa(height)})
}

func coverNumber(n float64) string {
	return strconv.FormatFloat(float64(int(n*10+0.5))/10, 'f', -1, 64)
}

func coverDay(day string) time.Time {
	at, _ := time.Parse(time.DateOnly, day)
	return at
}

// drawCover draws what is stored of a source. It returns nil if no record of the source has a day.
func drawCover(k *api.KeptSource, of *view.Connection, today string) *cover {
	if k == nil || k.FirstDay == "" {
		return nil
	}
	axis, ok := newCoverAxis(k.FirstDay, today)
	if !ok {
		return nil
	}
	c := &cover{Span: axis.first.Format("January 2006") + " to today"}
	c.Label = text.Line(k.Name) + ", " + c.Span + ": " + text.Lower(k.Say)
	missing, refused := missingSpans(k, of, today)
	for _, span := range missing {
		c.Bars = axis.add(c.Bars, "cv-miss", coverDay(span.From), coverDay(span.To), 0, coverHeight)
	}
	for i := 0; i < len(k.Months); {
		from, _ := time.Parse("2006-01", k.Months[i].Month)
		to := from
		for i++; i < len(k.Months) && k.Months[i].Month == to.AddDate(0, 1, 0).Format("2006-01"); i++ {
			to = to.AddDate(0, 1, 0)
		}
		from, to = clampCover(k, from, to.AddDate(0, 1, -1))
		c.Bars = addStored(axis, c.Bars, from, to, missing)
	}
	if refused {
		from := axis.x(coverDay(k.FirstDay))
		c.NotOffered = fmt.Sprintf("M%s %d H%d", coverNumber(from), coverHeight-3, int(coverLength))
	}
	for year := axis.first.Year() + 1; year <= axis.last.Year(); year++ {
		x := axis.x(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)) * 100 / coverLength
		c.Years = append(c.Years, coverYear{coverNumber(x) + "%", strconv.Itoa(year)})
	}
	if every := 1 + len(c.Years)/6; every > 1 {
		kept := c.Years[:0]
		for i, y := range c.Years {
			if i%every == 0 {
				kept = append(kept, y)
			}
		}
		c.Years = kept
	}
	return c
}

// clampCover keeps a span of months within the first and the last day that have records.
func clampCover(k *api.KeptSource, from, to time.Time) (time.Time, time.Time) {
	if first := coverDay(k.FirstDay); from.Before(first) {
		from = first
	}
	if last := coverDay(k.LastDay); to.After(last) {
		to = last
	}
	return from, to
}

// addStored draws a span with records: whole where nothing of it is missing, and the lower half of it elsewhere.
func addStored(axis coverAxis, all []coverRect, from, to time.Time, missing []api.Covered) []coverRect {
	for _, m := range missing {
		first, last := coverDay(m.From), coverDay(m.To)
		if last.Before(from) || first.After(to) {
			continue
		}
		if first.After(from) {
			all = axis.add(all, "cv-yes", from, first.AddDate(0, 0, -1), 0, coverHeight)
			from = first
		}
		end := to
		if last.Before(to) {
			end = last
		}
		all = axis.add(all, "cv-yes", from, end, coverHeight/2, coverHeight/2)
		if from = end.AddDate(0, 0, 1); from.After(to) {
			return all
		}
	}
	return axis.add(all, "cv-yes", from, to, 0, coverHeight)
}

// missingSpans returns the time of which something is missing that a later run can fetch, in order and without overlap,
// and whether the provider does not offer a part of the source at all.
func missingSpans(k *api.KeptSource, of *view.Connection, today string) (spans []api.Covered, refused bool) {
	var partial api.Covered
	for i := range of.Verdict.Streams {
		row := &of.Verdict.Streams[i]
		refused = refused || view.IsNotOffered(row)
		if !view.CanBeFetched(row) {
			continue
		}
		for _, st := range k.Streams {
			if st.Name == row.StreamID && len(st.Covered) > 0 && !st.Covered[0].Whole {
				partial = widen(partial, st.Covered[0])
			}
		}
	}
	if partial.From != "" {
		spans = append(spans, partial)
	}
	if k.Status == revoked || of.SourceKind == manualSource || k.AsOf == nil || len(k.Covered) == 0 {
		return spans, refused
	}
	behind := coverDay(k.Covered[0].To).AddDate(0, 0, 1)
	if coverDay(today).Sub(behind) < lateCover*24*time.Hour {
		return spans, refused
	}
	late := api.Covered{From: behind.Format(time.DateOnly), To: today}
	if len(spans) > 0 && spans[0].To >= late.From {
		spans[0] = widen(spans[0], late)
		return spans, refused
	}
	return append(spans, late), refused
}

// widen returns the span that holds both.
func widen(a, b api.Covered) api.Covered {
	if a.From == "" {
		return b
	}
	return api.Covered{From: min(a.From, b.From), To: max(a.To, b.To)}
}

// heldInWords returns how much is stored and since when.
func heldInWords(k *api.KeptSource) string {
	switch {
	case k == nil || k.Records == 0:
		return "Nothing is here yet"
	case k.Counting != nil || k.FirstDay == "":
		return text.Count(k.Records, "thing", "things")
	}
	first, last := coverDay(k.FirstDay).Format("January 2006"), coverDay(k.LastDay).Format("January 2006")
	line := text.Count(k.Records, "thing", "things")
	if first == last {
		return line + ", " + first
	}
	return line + ", " + first + " to " + last
}

// coverRow is a time in numbers.
type coverRow struct{ Name, Records string }

// mostCoverMonths is how many months a table lists before it lists years.
const mostCoverMonths = 24

// coverRows are the numbers behind the picture, the newest first.
func coverRows(k *api.KeptSource) (out []coverRow) {
	layout, length := "January 2006", len("2006-01")
	if len(k.Months) > mostCoverMonths {
		layout, length = "2006", len("2006")
	}
	var last string
	var sum int64
	flush := func() {
		if last == "" {
			return
		}
		at, _ := time.Parse("2006-01"[:length], last)
		out = append(out, coverRow{at.Format(layout), text.Number(sum)})
	}
	for i := len(k.Months) - 1; i >= 0; i-- {
		if name := k.Months[i].Month[:length]; name != last {
			flush()
			last, sum = name, 0
		}
		sum += k.Months[i].Records
	}
	flush()
	return out
}
