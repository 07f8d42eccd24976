// Package figures serves the pages of what can be counted and measured: health and money.
//
// A day that was not measured is drawn as missing and is left out of averages. Amounts of different currencies are
// never added up, and neither are measurements in different units.
package figures

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/sync/errgroup"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// Config is what the pages need. All members must be set.
type Config struct {
	Owner api.Owner
	// Now returns the time in the zone that pages show. Days begin in that zone.
	Now func() time.Time
	Log *slog.Logger
}

type figurePages struct {
	Config
	*ui.Responder
}

// Addresses of the pages.
const (
	healthPage = "/health"
	moneyPage  = "/money"
)

// Routes returns the routes. All of them require a signed-in owner.
func Routes(c Config) []ui.Route {
	p := &figurePages{c, ui.NewResponder(c.Owner, c.Now, c.Log)}
	return []ui.Route{
		{Pattern: "GET " + healthPage, Handler: http.HandlerFunc(p.health)},
		{Pattern: "GET " + moneyPage, Handler: http.HandlerFunc(p.money)},
	}
}

// Address returns where the figures of a request for /records/figures are now: with health, or with money.
func Address(r *http.Request, owner api.Records) (string, error) {
	q := r.URL.Query()
	all, err := things.ReadStreams(r.Context(), owner)
	if err != nil {
		return "", err
	}
	page := healthPage
	for i := range all.All {
		if s := &all.All[i]; s.Path() == q.Get("stream") && s.Kind() == manifest.KindTransaction {
			page = moneyPage
		}
	}
	return ui.QueryAddress(page, q), nil
}

// figureChoice is what the address asks for.
type figureChoice struct{ page, span, stream, series string }

func readChoice(r *http.Request) figureChoice {
	q := r.URL.Query()
	return figureChoice{r.URL.Path, q.Get("range"), q.Get("stream"), q.Get("series")}
}

func (c figureChoice) address() string {
	q := url.Values{}
	for name, value := range map[string]string{"range": c.span, "stream": c.stream, "series": c.series} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return ui.QueryAddress(c.page, q)
}

// choiceLink is a link to the page with another choice.
type choiceLink struct {
	Label, Address string
	Current        bool
}

// dateRange is a range that a page can show.
type dateRange struct {
	name, label, before string
	days                int    // zero means everything
	each                string // day, week, month or year
}

// links are the ranges of a page.
func (c figureChoice) links(all []dateRange, chosen dateRange) (out []choiceLink) {
	for _, s := range all {
		c.span = s.name
		out = append(out, choiceLink{s.label, c.address(), s.name == chosen.name})
	}
	return out
}

// chooseSpan returns the range of that name, or the one that a page shows first.
func chooseSpan(all []dateRange, name, first string) dateRange {
	for _, want := range []string{name, first} {
		if i := slices.IndexFunc(all, func(s dateRange) bool { return s.name == want }); i >= 0 {
			return all[i]
		}
	}
	return all[0]
}

const (
	// pageOfFigures and mostPagesOfFigures bound how many records are read of a stream for a page.
	pageOfFigures      = 1000
	mostPagesOfFigures = 3
	// mostStreams bounds how many streams are read.
	mostStreams = 6
)

// streamReading is what was read of a stream, the newest first.
type streamReading struct {
	of     *things.Stream
	things []things.Thing
	// partly means that there are older ones that were not read. Since is then the first day that was read whole.
	partly bool
	since  time.Time
}

// readAll reads streams from one day up to another. A zero time is no bound.
func (p *figurePages) readAll(ctx context.Context, of []*things.Stream, from, to time.Time) ([]streamReading, error) {
	out := make([]streamReading, len(of))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(things.Readers)
	for i, s := range of {
		group.Go(func() (err error) {
			out[i], err = p.readStream(ctx, s, from, to)
			return err
		})
	}
	return out, group.Wait()
}

func (p *figurePages) readStream(ctx context.Context, s *things.Stream, from, to time.Time) (streamReading, error) {
	out := streamReading{of: s}
	q := api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true, Fields: s.FieldNames(),
		Limit: pageOfFigures}
	if !from.IsZero() {
		q.Since, _ = s.Bounds(from)
	}
	if !to.IsZero() {
		q.Until, _ = s.Bounds(to)
	}
	for range mostPagesOfFigures {
		found, err := p.Owner.Records(ctx, q)
		if err != nil {
			return out, err
		}
		for _, r := range found.Records {
			out.things = append(out.things, s.Thing(r))
		}
		if q.Cursor = found.Next; q.Cursor == "" {
			return out, nil
		}
	}
	out.partly = true
	last := out.things[len(out.things)-1]
	out.since = dayOf(&last, p.Now().Location()).AddDate(0, 0, 1)
	return out, nil
}

// dayOf is the day of a thing, in the zone of the pages.
func dayOf(t *things.Thing, zone *time.Location) time.Time {
	at := *t.At
	if !t.In.Display.Days {
		at = at.In(zone)
	}
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, zone)
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// streamsOf are the streams of a kind that have records, those with most first.
func streamsOf(all *things.Streams, kind manifest.DisplayKind) (out []*things.Stream) {
	for i := range all.All {
		if s := &all.All[i]; s.Kind() == kind && s.Records > 0 && s.Role("time") != "" {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *things.Stream) int {
		return int(min(1, max(-1, b.Records-a.Records)))
	})
	return out
}

func (p *figurePages) show(w http.ResponseWriter, r *http.Request, title string, body templ.Component) {
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, title, ui.Section(r)), body)
}
