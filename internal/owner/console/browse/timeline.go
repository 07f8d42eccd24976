package browse

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// timelinePage is what happened on one day, everywhere.
type timelinePage struct {
	choice
	Day          time.Time // its beginning, in the zone of the pages
	Items        []item
	Count        int64 // of the records of the day, by what is chosen
	More         bool  // there are more than were counted
	Kinds        []facet
	Sources      []facet
	Older, Newer string // addresses of the days around it that have anything
	OlderDay     time.Time
	NewerDay     time.Time
	Partly       []*things.Stream // of which only the newest records of the day are shown
	Behind       []behind         // sources that may hold more of the day
	Known        dayKnown
	Facts        dayFacts
	Month        *monthCalendar
	Arrivals     arrivals
	Export       records.ExportList
	Open         *records.Opened
	OpenIn       string
}

// choice is what the address asks for.
type choice struct {
	day, source, kind string
	record            string // connection, stream and key of the record beside the list
}

func (c choice) address() string {
	q := url.Values{}
	for name, value := range map[string]string{"source": c.source, "kind": c.kind, "record": c.record} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if c.day == "" {
		return ui.QueryAddress("/timeline", q)
	}
	return ui.QueryAddress("/day/"+c.day, q)
}

// facet is a filter of the list, with the number of records that it leaves.
type facet struct {
	Label, Address string
	Count          int64
	Current        bool
}

// behind is a source that is incomplete according to its verdict.
type behind struct{ Name, Problem, Address string }

// dayLimit is how many records of one stream are read of a day.
const dayLimit = 1000

func (p *browsePages) timeline(w http.ResponseWriter, r *http.Request) {
	ctx, q := r.Context(), r.URL.Query()
	page := &timelinePage{choice: choice{day: r.PathValue("day"), source: q.Get("source"), kind: q.Get("kind"),
		record: q.Get("record")}}
	now := p.Now()
	page.Day = midnight(now)
	if page.day != "" {
		day, err := time.ParseInLocation(time.DateOnly, page.day, now.Location())
		if err != nil {
			p.ShowFailure(w, r, ui.Section(r), api.Invalid("day", "That is not a day.", "Write it like 2026-03-04."))
			return
		}
		page.Day = day
	}
	all, err := p.streams(ctx)
	var days *calendar
	if err == nil {
		if days, err = p.calendar(ctx, page, all); err == nil {
			page.Month, page.Arrivals = days.monthOf(), arrivalsFor(all, "/timeline")
		}
	}
	if err == nil {
		err = p.fillDay(ctx, days)
	}
	if err == nil {
		err = p.around(ctx, days)
	}
	if err == nil {
		err = p.judgeDay(ctx, page)
	}
	if err == nil && page.record != "" {
		page.Open, page.OpenIn, err = p.beside(ctx, all, page.record)
	}
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	if page.day != "" {
		p.show(w, r, page.Day.Format("Monday 2 January 2006"), dayBody(page, now))
		return
	}
	p.show(w, r, "Timeline, "+dayName(page.Day, now), timelineBody(page, now))
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// shows reports whether what is chosen has records of the stream.
func (page *timelinePage) shows(s *things.Stream) bool {
	return (page.kind == "" || page.kind == groupOf(s)) && (page.source == "" || page.source == s.ConnectionID)
}

// fillDay reads the records of the day. Records that are not shown are only counted.
func (p *browsePages) fillDay(ctx context.Context, days *calendar) error {
	page, all := days.page, days.all
	kinds, sources := map[string]int64{}, map[string]int64{}
	named := map[string]string{}
	met, err := p.readDay(ctx, days)
	if err != nil {
		return err
	}
	var happened []happening
	for _, h := range met {
		s := h.in
		if h.count == 0 {
			continue
		}
		if h.partly {
			page.Partly = append(page.Partly, s)
		}
		group := groupOf(s)
		named[s.ConnectionID] = s.ConnectionName
		if page.kind == "" || page.kind == group {
			sources[s.ConnectionID] += h.count
		}
		if page.source == "" || page.source == s.ConnectionID {
			kinds[group] += h.count
		}
		if !page.shows(s) {
			continue
		}
		page.Count += h.count
		from, to := s.Bounds(page.Day)
		page.Export.Add(&s.Stream, api.ExportQuery{ByTime: true, Since: from, Until: to})
		page.More = page.More || h.count > api.MostCounted
		happened = append(happened, h)
	}
	n := p.names(ctx, all)
	page.Items = n.items(happened, page.choice)
	page.Facts = n.dayFactsOf(happened, page.choice, page.Day.Location())
	if page.day != "" && len(page.Facts.Pictures) > 1 { // the page shows them above the list
		for i := range page.Items {
			page.Items[i].Pictures = nil
		}
	}
	page.facets(kinds, sources, named)
	return nil
}

// readers is how many streams are read at a time: a database has the next answer ready while the last one is
// put into words.
const readers = 3

// readDay reads what happened on the day in each stream, in the order of the streams.
func (p *browsePages) readDay(ctx context.Context, days *calendar) ([]happening, error) {
	var met []happening
	for i := range days.all.All {
		if s := &days.all.All[i]; s.Happens() && days.may(s) {
			met = append(met, happening{in: s})
		}
	}
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(readers)
	for i := range met {
		h := &met[i]
		reading.Go(func() (err error) {
			if days.page.shows(h.in) {
				return p.fillStream(ctx, days, h)
			}
			h.count, err = p.countStream(ctx, days, h.in)
			return err
		})
	}
	return met, reading.Wait()
}

// happening is what happened in one stream on a day, the newest first.
type happening struct {
	in     *things.Stream
	things []things.Thing // all of them, or the newest
	count  int64          // of all records; counting stops at api.MostCounted
	partly bool           // only the newest are there, and all are shown
}

// fillStream reads a stream's records of the day. For a stream that folds, it reads only enough
// records to know that there are many.
func (p *browsePages) fillStream(ctx context.Context, days *calendar, h *happening) error {
	s := h.in
	from, to := s.Bounds(days.page.Day)
	q := api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true, Since: from, Until: to,
		Fields: s.FieldNames(), Limit: dayLimit}
	if s.Folds() {
		q.Limit = foldedLimit(s)
	}
	found, err := p.Owner.Records(ctx, q)
	if err != nil {
		return err
	}
	for _, r := range found.Records {
		h.things = append(h.things, s.Thing(r))
	}
	if h.count = int64(len(found.Records)); found.Next == "" {
		return nil
	}
	h.partly = !s.Folds()
	h.count, err = p.countStream(ctx, days, s)
	h.count = max(h.count, int64(len(h.things)))
	return err
}

// foldedLimit is how many records are read of a stream that folds: enough to see that there are many, to show its
// pictures, and to add up the payments of a day.
func foldedLimit(s *things.Stream) int {
	switch s.Kind() {
	case manifest.KindFile:
		return 4 * picturesOfADay
	case manifest.KindTransaction, manifest.KindMeasurement, manifest.KindPlace:
		return 60
	default:
		return burst + 1
	}
}

// countStream counts a stream's records of the day. A day that is one in UTC is counted already.
func (p *browsePages) countStream(ctx context.Context, days *calendar, s *things.Stream) (int64, error) {
	from, to := s.Bounds(days.page.Day)
	if n, known := days.count(s, from, to); known {
		return n, nil
	}
	whole, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true,
		Since: from, Until: to, Fields: []string{}, Limit: 1, Total: true})
	if err != nil || whole.Total == nil {
		return 0, err
	}
	return *whole.Total, nil
}

// facets are the kinds and the sources of the day, those with most records first.
func (page *timelinePage) facets(kinds, sources map[string]int64, named map[string]string) {
	make := func(counts map[string]int64, label func(string) string, at func(choice, string) choice,
		current string) (all []facet) {
		plain := page.choice
		plain.record = ""
		for value, n := range counts {
			all = append(all, facet{Label: label(value), Count: n, Address: at(plain, value).address(),
				Current: value == current})
		}
		slices.SortFunc(all, func(a, b facet) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Label, b.Label))
		})
		var sum int64
		for _, f := range all {
			sum += f.Count
		}
		return append([]facet{{Label: "Everything", Count: sum, Address: at(plain, "").address(), Current: current == ""}},
			all...)
	}
	page.Kinds = make(kinds, func(k string) string { return groupNames[k] },
		func(c choice, v string) choice { c.kind = v; return c }, page.kind)
	page.Sources = make(sources, func(id string) string { return named[id] },
		func(c choice, v string) choice { c.source = v; return c }, page.source)
}

// groups are what kinds are called on the timeline.
var groupNames = map[string]string{
	"conversations": "Conversations", "mail": "Mail", "documents": "Notes", "files": "Photos",
	"measured": "Health", "money": "Money", "places": "Places", "events": "Plans",
}

func groupOf(s *things.Stream) string {
	switch s.Kind() {
	case manifest.KindMessage:
		if s.Role("title") != "" {
			return "mail"
		}
		return "conversations"
	case manifest.KindEvent:
		if s.Role("thread") != "" {
			return "conversations"
		}
		return "events"
	}
	return map[manifest.DisplayKind]string{
		manifest.KindDocument: "documents", manifest.KindFile: "files", manifest.KindMeasurement: "measured",
		manifest.KindTransaction: "money", manifest.KindPlace: "places",
	}[s.Kind()]
}

// behind returns the sources that need attention or do not collect, with the text of their
// verdicts. An empty source means all sources.
func (p *browsePages) behind(ctx context.Context, source string) (out []behind, err error) {
	o, err := p.Owner.Overview(ctx)
	if err != nil {
		return nil, err
	}
	for i := range o.Connections {
		c := &o.Connections[i]
		if tone := c.Verdict.Pill.Tone; (tone == verdict.Red || tone == verdict.Amber) && (source == "" || source == c.ID) {
			out = append(out, behind{c.DisplayName, c.Verdict.ForwardStatement, "/sources/" + ui.Segment(c.ID)})
		}
	}
	return out, nil
}

// closed is the page without the record beside it.
func (page *timelinePage) closed() string {
	c := page.choice
	c.record = ""
	return c.address()
}

// counted writes how many things there are.
func counted(n int64) string { return text.Count(n, "thing", "things") }

// counted returns how many records the day has.
func (page *timelinePage) counted() string {
	if page.More {
		return "more than " + text.Count(page.Count, "thing", "things")
	}
	return text.Count(page.Count, "thing", "things")
}
