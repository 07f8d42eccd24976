package figures

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// healthSpans are the ranges of what was measured.
var healthSpans = []dateRange{
	{"week", "Week", "the week before", 7, "day"},
	{"month", "Month", "the 30 days before", 30, "day"},
	{"quarter", "3 months", "the 3 months before", 91, "day"},
	{"year", "Year", "the year before", 364, "week"},
	{"all", "All", "", 0, "month"},
}

// healthPageData is what was measured.
type healthPageData struct {
	Ranges, Measures []choiceLink
	Cards            []measureCard
	Chosen           *measure
	Span             dateRange
	First, Last      time.Time
	Chart            chart
	Buckets          []bucket
	Sentence         string
	Missing          string
	Partly           string
	Records          string // the address of all records
	Export           records.ExportList
	Empty            bool
}

// measureCard is a measure in short.
type measureCard struct {
	Name, Value, Unit, Change string
	Line, Address             string
}

// cardsShown is how many measures are shown in short.
const cardsShown = 4

func (p *figurePages) health(w http.ResponseWriter, r *http.Request) {
	at := readChoice(r)
	all, err := things.ReadStreams(r.Context(), p.Owner)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	streams := streamsOf(all, manifest.KindMeasurement)
	i := slices.IndexFunc(streams, func(s *things.Stream) bool { return s.Path() == at.stream })
	switch {
	case i < 0 && at.stream != "":
		p.ShowFailure(w, r, ui.Section(r), api.NotFound("There is no such list of measurements.",
			"Choose one from the page."))
		return
	case i > 0:
		streams[0], streams[i] = streams[i], streams[0]
	}
	page := &healthPageData{Span: chooseSpan(healthSpans, at.span, "quarter"), Empty: len(streams) == 0}
	page.Ranges = at.links(healthSpans, page.Span)
	today := midnight(p.Now())
	page.Last, page.First = today, today.AddDate(0, 0, 1-page.Span.days)
	from, shown, end := page.First.AddDate(0, 0, -page.Span.days), page.First, today.AddDate(0, 0, 1)
	if page.Span.days == 0 {
		from, shown = time.Time{}, time.Time{}
	}
	streams = streams[:min(len(streams), mostStreams)]
	page.Export = things.ExportBetween(streams, shown, end)
	page.Export.Legend = "Export the measurements of these days"
	found, err := p.readAll(r.Context(), streams, from, end)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page.fill(at, measuresOf(things.NewNames(r.Context(), p.Owner, p.Log, all), found, today.Location()), found)
	p.show(w, r, "Health", healthBody(page))
}

// fill describes the measures, and draws the one that is chosen.
func (page *healthPageData) fill(at figureChoice, all []*measure, found []streamReading) {
	for _, m := range all {
		if at.stream != "" && m.Stream.Path() == at.stream && (at.series == "" || m.Name == at.series) {
			page.Chosen = m
			break
		}
	}
	if page.Chosen == nil && len(all) > 0 && at.stream == "" {
		page.Chosen = all[0]
	}
	for i, m := range all {
		c := figureChoice{healthPage, at.span, m.Stream.Path(), m.Name}
		page.Measures = append(page.Measures, choiceLink{m.Name, c.address(), m == page.Chosen})
		if i < cardsShown {
			page.Cards = append(page.Cards, page.card(m, c.address(), sinceOf(found, m.Stream)))
		}
	}
	if page.Chosen != nil {
		page.Records = page.Chosen.Stream.ListAddress()
		page.draw(sinceOf(found, page.Chosen.Stream))
	}
}

// sinceOf is the first day of a stream that was read whole, if not all of it was read.
func sinceOf(found []streamReading, s *things.Stream) time.Time {
	for _, r := range found {
		if r.of == s && r.partly {
			return r.since
		}
	}
	return time.Time{}
}

// compared is the mean of a measure in the range, and of the range before if there is one.
func (page *healthPageData) compared(m *measure, since time.Time) (now float64, days int, change string) {
	now, days = m.between(page.start(m, since), page.Last, page.Last)
	if page.Span.days == 0 || days == 0 || !since.IsZero() {
		return now, days, ""
	}
	before, earlier := m.between(page.First.AddDate(0, 0, -page.Span.days), page.First.AddDate(0, 0, -1), page.Last)
	if earlier == 0 {
		return now, days, ""
	}
	difference := now - before
	switch written := m.with(math.Abs(difference)); {
	case written == m.with(0):
		change = "the same as in " + page.Span.before
	case difference > 0:
		change = written + " more than in " + page.Span.before
	default:
		change = written + " less than in " + page.Span.before
	}
	return now, days, change
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// card describes a measure in short.
func (page *healthPageData) card(m *measure, address string, since time.Time) measureCard {
	now, days, change := page.compared(m, since)
	c := measureCard{Name: m.Name, Value: rounded(now), Unit: m.Unit, Change: text.Upper(change), Address: address}
	if m.Unit == "h" {
		c.Value, c.Unit = things.Measured(now, "h"), ""
	}
	if m.Sums && days > 0 {
		c.Unit = text.Line(c.Unit + " a day")
	}
	if days == 0 {
		c.Value, c.Unit, c.Change = "Not measured", "", ""
		return c
	}
	small := bucketsOf(page.start(m, since), page.Last, page.Span.each)
	m.fill(small)
	c.Line = drawChart(series{now: small, each: page.Span.each}, rounded).Line
	return c
}

// start is the first day that is drawn: of everything, the first that has a value.
func (page *healthPageData) start(m *measure, since time.Time) time.Time {
	if page.Span.days > 0 {
		return maxTime(page.First, since)
	}
	first := page.Last
	for day := range m.days {
		if day.Before(first) {
			first = day
		}
	}
	return maxTime(first, since)
}

// draw draws the chosen measure.
func (page *healthPageData) draw(since time.Time) {
	m := page.Chosen
	page.First = page.start(m, since)
	page.Buckets = bucketsOf(page.First, page.Last, page.Span.each)
	m.fill(page.Buckets)
	s := series{now: page.Buckets, each: page.Span.each, bars: m.Sums}
	if page.Span.days > 0 && since.IsZero() {
		earlier := bucketsOf(page.First.AddDate(0, 0, -page.Span.days), page.First.AddDate(0, 0, -1), page.Span.each)
		m.fill(earlier)
		if len(earlier) == len(s.now) && slices.ContainsFunc(earlier, func(b bucket) bool { return !b.Unknown }) {
			s.before = earlier
		}
		if !m.Sums {
			s.usualLow, s.usualHigh, s.usual = m.usual(page.First.AddDate(0, 0, -page.Span.days), page.Last)
		}
	}
	now, days, change := page.compared(m, since)
	s.average, s.averaged = now, days > 0
	page.Chart = drawChart(s, rounded)
	page.Sentence = page.sentence(now, days, change)
	page.Chart.Label = m.Name + " by " + page.Span.each + ". " + page.Sentence + " " + page.Missing
	if !since.IsZero() {
		page.Partly = "There is more than one page can read, so this begins on " + since.Format("2 January 2006") + "."
	}
}

// sentence describes the chosen measure.
func (page *healthPageData) sentence(now float64, days int, change string) string {
	all := int(page.Last.Sub(page.First).Round(24*time.Hour)/(24*time.Hour)) + 1
	if days == 0 {
		return fmt.Sprintf("Nothing was measured in these %s.", text.Count(int64(all), "day", "days"))
	}
	line := page.Chosen.with(now) + " on average"
	if page.Chosen.Sums {
		line = page.Chosen.with(now) + " a day on average"
	}
	if change != "" {
		line += ", " + change
	}
	_, measured := page.Chosen.between(page.First, page.Last, time.Time{})
	page.Missing = fmt.Sprintf("Measured on %s of %d.", text.Count(int64(measured), "day", "days"), all)
	if all > measured {
		page.Missing += " The others are left out."
	}
	return line + "."
}
