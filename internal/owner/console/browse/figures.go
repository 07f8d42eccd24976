package browse

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// figuresPage is what one stream measured or what was paid by it, day by day.
type figuresPage struct {
	Title        string
	Streams      []facet
	Series       []facet
	Label        string // of what is shown
	Source       string
	Unit         string
	Money        bool
	Out, In      float64   // of money, by the signs of the amounts
	First, Last  time.Time // the days that are shown
	Days         []dayFigure
	Sentence     string
	Older, Newer string
	Partly       bool // there are more records than were read
	Table        string
}

// dayFigure is one day: its measurement, or the total paid. A day without records differs from a
// day with value zero.
type dayFigure struct {
	Day    time.Time
	Value  float64
	Counts int // of its records
}

const (
	// daysShown is how many days a plot has.
	daysShown = 90
	// figurePages bounds how many records are read for it.
	figurePages = 5
)

// figureChoice is what the address asks for.
type figureChoice struct{ page, stream, series, until string }

func (c figureChoice) address() string {
	q := url.Values{}
	for name, value := range map[string]string{"stream": c.stream, "series": c.series, "until": c.until} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return c.page
	}
	return c.page + "?" + q.Encode()
}

func (p *browsePages) figures(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	at := figureChoice{r.URL.Path, q.Get("stream"), q.Get("series"), q.Get("until")}
	all, err := p.streams(r.Context())
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page := &figuresPage{Title: figuresTitle(at.page)}
	chosen := page.choose(all, at)
	switch {
	case chosen == nil && at.stream != "":
		p.ShowFailure(w, r, ui.Section(r), api.NotFound("There is no such stream of figures.", "Choose one from the list."))
		return
	case chosen != nil:
		if err := p.fillFigures(r.Context(), page, all, chosen, at); err != nil {
			p.ShowFailure(w, r, ui.Section(r), err)
			return
		}
	}
	p.show(w, r, cmp.Or(page.Label, figuresTitle(at.page)), figuresBody(page, p.Now()))
}

// Addresses of the pages of figures.
const (
	healthPage = "/health"
	moneyPage  = "/money"
)

// figuresPageOf returns the address of the page of a stream's figures, and "" if it has none.
func figuresPageOf(s *things.Stream) string {
	switch s.Kind() {
	case manifest.KindMeasurement:
		return healthPage
	case manifest.KindTransaction:
		return moneyPage
	default:
		return ""
	}
}

// FiguresAddress returns where the figures of a request for /records/figures are now: with health, or with money.
func FiguresAddress(r *http.Request, owner api.Records) (string, error) {
	q := r.URL.Query()
	all, err := owner.Streams(r.Context(), "")
	if err != nil {
		return "", err
	}
	page := healthPage
	for _, one := range all {
		s := &things.Stream{Stream: one}
		if ui.StreamSegments(s.ConnectionID, s.Name) == q.Get("stream") && figuresPageOf(s) != "" {
			page = figuresPageOf(s)
		}
	}
	return ui.QueryAddress(page, q), nil
}

// figuresTitle returns the title of a page of figures.
func figuresTitle(page string) string {
	if page == moneyPage {
		return "Money"
	}
	return "Health"
}

// choose lists the streams that have figures. It returns the requested stream, or the largest one.
func (page *figuresPage) choose(all *things.Streams, at figureChoice) (chosen *things.Stream) {
	for i := range all.All {
		s := &all.All[i]
		if figuresPageOf(s) != at.page || s.Records == 0 {
			continue
		}
		name := ui.Segment(s.ConnectionID) + "/" + ui.Segment(s.Name)
		page.Streams = append(page.Streams, facet{Label: s.Label + ", " + s.ConnectionName, Count: s.Records,
			Address: figureChoice{page: at.page, stream: name}.address()})
		if at.stream == name || at.stream == "" && (chosen == nil || s.Records > chosen.Records) {
			chosen = s
		}
	}
	for i := range page.Streams {
		page.Streams[i].Current = chosen != nil && page.Streams[i].Label == chosen.Label+", "+chosen.ConnectionName
	}
	return chosen
}

func (p *browsePages) fillFigures(
	ctx context.Context,
	page *figuresPage,
	all *things.Streams,
	s *things.Stream,
	at figureChoice,
) error {
	at.stream = ui.Segment(s.ConnectionID) + "/" + ui.Segment(s.Name)
	zone := p.Now().Location()
	if s.Display.Days {
		zone = time.UTC
	}
	now := p.Now().In(p.Now().Location())
	last := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone)
	if day, err := time.ParseInLocation(time.DateOnly, at.until, zone); err == nil {
		last = day
	}
	page.First, page.Last = last.AddDate(0, 0, 1-daysShown), last
	page.Source, page.Money = s.ConnectionName, s.Kind() == manifest.KindTransaction
	page.Table = "/search?connection=" + ui.Segment(s.ConnectionID) + "&stream=" + ui.Segment(s.Name)
	listed, partly, err := p.readFigures(ctx, s, page.First, last.AddDate(0, 0, 1))
	if err != nil {
		return err
	}
	page.Partly = partly
	names := p.names(ctx, all)
	chosen := page.series(names, listed, at)
	page.sum(names, listed, chosen, zone)
	page.Label = s.Label
	if chosen != "" && !page.Money {
		page.Label += ": " + chosen
	}
	page.Sentence = page.sentence()
	at.until = page.First.AddDate(0, 0, -1).Format(time.DateOnly)
	page.Older = at.address()
	if next := last.AddDate(0, 0, daysShown); !last.Equal(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0,
		zone)) {
		at.until = next.Format(time.DateOnly)
		page.Newer = at.address()
	}
	return nil
}

// readFigures reads the records of the days, the newest first.
func (p *browsePages) readFigures(ctx context.Context, s *things.Stream, from, to time.Time) (listed []things.Thing,
	partly bool,
	err error) {
	q := api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true, Since: from, Until: to,
		Fields: s.FieldNames(), Limit: dayLimit}
	for range figurePages {
		found, err := p.Owner.Records(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, r := range found.Records {
			listed = append(listed, s.Thing(r))
		}
		if q.Cursor = found.Next; q.Cursor == "" {
			return listed, false, nil
		}
	}
	return listed, true, nil
}

// seriesOf is what a figure is one of. Amounts of different currencies have no sum, nor have measurements in different
// units a mean: each is a series of its own.
func (page *figuresPage) seriesOf(n *names, t *things.Thing) string {
	if page.Money {
		return t.Line("currency", 12)
	}
	name := text.Name(n.Of(t, "series"))
	if unit := t.Line("unit", 24); unit != "" {
		return strings.TrimPrefix(name+", "+unit, ", ")
	}
	return name
}

// series lists the available series of figures. It returns the requested series, or the most
// frequent one.
func (page *figuresPage) series(n *names, listed []things.Thing, at figureChoice) string {
	counts := map[string]int64{}
	for i := range listed {
		counts[page.seriesOf(n, &listed[i])]++
	}
	all := slices.SortedFunc(maps.Keys(counts),
		func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	if len(all) == 0 {
		return ""
	}
	chosen := all[0]
	if _, there := counts[at.series]; there && at.series != "" {
		chosen = at.series
	}
	if len(all) == 1 {
		return chosen
	}
	for _, name := range all {
		page.Series = append(page.Series,
			facet{Label: cmp.Or(name, "Unnamed"), Count: counts[name],
				Address: figureChoice{at.page, at.stream, name, at.until}.address(), Current: name == chosen})
	}
	return chosen
}

// sum puts the figures of each day together: amounts are added up, of what was measured the mean is taken.
func (page *figuresPage) sum(n *names, listed []things.Thing, chosen string, zone *time.Location) {
	page.Days = make([]dayFigure, daysShown)
	for i := range page.Days {
		page.Days[i].Day = page.First.AddDate(0, 0, i)
	}
	role := "value"
	if page.Money {
		role = "amount"
	}
	for i := range listed {
		t := &listed[i]
		value, ok := t.Number(role)
		if !ok || page.seriesOf(n, t) != chosen {
			continue
		}
		at := t.At.In(zone)
		day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, zone)
		k := slices.IndexFunc(page.Days, func(d dayFigure) bool { return d.Day.Equal(day) })
		if k < 0 {
			continue
		}
		page.Days[k].Value += value
		if value < 0 {
			page.Out -= value
		} else {
			page.In += value
		}
		page.Days[k].Counts++
		page.Unit = cmp.Or(page.Unit, t.Line("unit", 24), t.Line("currency", 12), t.In.Display.Unit)
	}
	for i := range page.Days {
		if d := &page.Days[i]; !page.Money && d.Counts > 1 {
			d.Value /= float64(d.Counts)
		}
	}
}

// sentence returns the sentence above the plot.
func (page *figuresPage) sentence() string {
	var measured int64
	var sum float64
	for _, d := range page.Days {
		if d.Counts > 0 {
			measured++
			sum += d.Value
		}
	}
	switch {
	case measured == 0:
		return fmt.Sprintf("Nothing is kept of these %d days.", daysShown)
	case page.Money:
		return fmt.Sprintf("%s went out and %s came in, on %s of %d.", page.with(page.Out), page.with(page.In),
			text.Count(measured, "day", "days"), daysShown)
	case measured == daysShown:
		return fmt.Sprintf("%s on average; every one of %d days was measured.", page.with(sum/float64(measured)), daysShown)
	}
	return fmt.Sprintf("%s on average over %s; %s were not measured and are left out.", page.with(sum/float64(measured)),
		text.Count(measured, "day", "days"), text.Count(daysShown-measured, "day", "days"))
}

// with writes a figure with its unit.
func (page *figuresPage) with(n float64) string {
	digits := -1
	if page.Money {
		digits = 2
	}
	return things.Figure(n, digits) + things.After(" ", page.Unit)
}

// plot is the drawing: a path of bars, one of bands where nothing was measured, and the line of zero.
type plot struct {
	Bars, Gaps string
	Zero       string
	High, Low  string // labels for the ends of the scale
}

// plotHeight is that of the drawing, which is stretched to the page.
const plotHeight = 100.0

func (page *figuresPage) plot() plot {
	low, high := 0.0, 0.0
	for _, d := range page.Days {
		low, high = min(low, d.Value), max(high, d.Value)
	}
	if low == high {
		high = low + 1
	}
	y := func(v float64) float64 { return plotHeight * (high - v) / (high - low) }
	var out plot
	for i, d := range page.Days {
		if d.Counts == 0 {
			if page.Money {
				continue // a day on which nothing was paid is known to be one
			}
			out.Gaps += fmt.Sprintf("M%d 0h1v%.0fh-1z", i, plotHeight)
			continue
		}
		out.Bars += fmt.Sprintf("M%.1f %.2fh0.8V%.2fh-0.8z", float64(i)+.1, y(0), y(d.Value))
	}
	out.Zero = fmt.Sprintf("M0 %.2fH%d", y(0), daysShown)
	out.High, out.Low = page.with(high), page.with(low)
	return out
}
