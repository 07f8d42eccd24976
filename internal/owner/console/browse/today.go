package browse

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/sync/errgroup"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	judged "github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/manifest"
)

// Asking makes the parts of the first page that depend on the state of sources.
type Asking interface {
	// Ask returns the one thing that needs the owner, and nil if nothing does.
	Ask(all *judged.Overview) templ.Component
	// Welcome returns what to begin with in a home without sources.
	Welcome(ctx context.Context, all *judged.Overview) (templ.Component, error)
}

// todayPage is what happened lately, and what happened on this day in other years.
type todayPage struct {
	Now     time.Time
	Ask     templ.Component
	Welcome templ.Component // of a home without sources; then there is nothing else
	Pieces  []piece
	Arrived int64 // records since yesterday
	From    int   // sources that they are of
	Past    []pastDay
	Years   string // with nothing, and not collected, in words
	Heat    templ.Component
	Newer   arrivals
}

// piece is what is new of one kind.
type piece struct {
	Kind     records.ThingKind
	Count    int64
	Headline string
	From     string
	Lines    []pieceLine
	Pictures []things.Picture
	sources  []string
}

// pieceLine is one thing, with the address where it is read.
type pieceLine struct{ Text, Address string }

const (
	// streamsOfAPiece bounds how many streams are read for what is new of a kind.
	streamsOfAPiece = 3
	// linesOfAPiece and picturesOfAPiece are how much of it is shown.
	linesOfAPiece    = 2
	picturesOfAPiece = 3
)

func (p *browsePages) today(w http.ResponseWriter, r *http.Request) {
	ctx, now := r.Context(), p.Now()
	page := &todayPage{Now: now}
	overview, err := p.Owner.Overview(ctx)
	if err == nil && len(overview.Connections) == 0 && overview.Indicator == nil {
		page.Welcome, err = p.Asking.Welcome(ctx, &overview)
	} else if err == nil {
		page.Ask = p.Asking.Ask(&overview)
		err = p.fillToday(ctx, page, now)
	}
	if err != nil {
		p.ShowFailure(w, r, "today", err)
		return
	}
	p.show(w, r, "Today", todayBody(page))
}

func (p *browsePages) fillToday(ctx context.Context, page *todayPage, now time.Time) error {
	all, err := p.streams(ctx)
	if err != nil {
		return err
	}
	page.Newer = arrivalsFor(all, "/")
	kept, err := p.Owner.Kept(ctx)
	if err != nil {
		return err
	}
	page.Heat = records.YearHeat(kept)
	if err := p.fillNew(ctx, page, all, now); err != nil {
		return err
	}
	past, err := p.pastYears(ctx, all, &kept, midnight(now), pastShown)
	page.Past, page.Years = past.Days, past.words()
	return err
}

// fillNew reads what happened since yesterday, by kind.
func (p *browsePages) fillNew(ctx context.Context, page *todayPage, all *things.Streams, now time.Time) error {
	since := midnight(now).AddDate(0, 0, -1)
	counts, err := p.Owner.Days(ctx, api.DayQuery{From: since.UTC().Format(time.DateOnly),
		To: now.UTC().Format(time.DateOnly)})
	if err != nil {
		return err
	}
	groups, sources := p.gather(counts, all)
	page.From = len(sources)
	names := p.names(ctx, all)
	for _, l := range records.Kinds {
		streams := groups[l.Name]
		if len(streams) == 0 {
			continue
		}
		one, err := p.piece(ctx, names, l, streams, since)
		if err != nil {
			return err
		}
		page.Arrived += one.Count
		page.Pieces = append(page.Pieces, one)
	}
	return nil
}

// busyStream is a stream with how many of its records are of some days.
type busyStream struct {
	*things.Stream
	count int64
}

// gather puts the streams that have records of the days into groups, the busiest first, and lists their sources.
func (p *browsePages) gather(counts []api.DayCount, all *things.Streams) (map[string][]busyStream, map[string]bool) {
	groups, sources, at := map[string][]busyStream{}, map[string]bool{}, map[*things.Stream]int64{}
	for _, c := range counts {
		if s := all.Find(c.ConnectionID, c.Stream); s != nil && s.Happens() && c.Records > 0 {
			at[s] += c.Records
		}
	}
	for s, n := range at {
		if k, is := records.KindOf(&s.Stream); is {
			groups[k.Name] = append(groups[k.Name], busyStream{s, n})
			sources[s.ConnectionID] = true
		}
	}
	for _, streams := range groups {
		slices.SortFunc(streams, func(a, b busyStream) int {
			return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.description(), b.description()))
		})
	}
	return groups, sources
}

// description names a stream within this process.
func (b busyStream) description() string { return b.ConnectionID + "/" + b.Name }

// piece reads a little of what is new of a kind.
func (p *browsePages) piece(ctx context.Context, n *names, look records.ThingKind, streams []busyStream,
	since time.Time) (piece, error) {
	out := piece{Kind: look}
	for _, s := range streams {
		out.Count += s.count
		if !slices.Contains(out.sources, s.ConnectionName) {
			out.sources = append(out.sources, s.ConnectionName)
		}
	}
	out.Headline = text.Count(out.Count, look.One, look.Many)
	out.From = shortList(out.sources)
	listed, err := p.newest(ctx, streams[:min(len(streams), streamsOfAPiece)], since, time.Time{})
	if err != nil {
		return out, err
	}
	for i := range listed {
		t := &listed[i]
		if t.In.Kind() == manifest.KindFile && t.IsPicture() {
			if len(out.Pictures) < picturesOfAPiece {
				out.Pictures = append(out.Pictures, t.Picture())
			}
			continue
		}
		if line := n.called(t); line != "" && len(out.Lines) < linesOfAPiece && t.Text("current") != "false" {
			out.Lines = append(out.Lines, pieceLine{line, t.Address()})
		}
	}
	if len(out.Pictures) > 0 {
		out.Lines = nil
	}
	return out, nil
}

// newest reads the newest things of some streams from one moment to another, the newest first.
func (p *browsePages) newest(ctx context.Context, streams []busyStream, since, until time.Time) ([]things.Thing,
	error) {
	found := make([][]things.Thing, len(streams))
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(readers)
	for i, s := range streams {
		reading.Go(func() error {
			page, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true,
				Since: since, Until: until, Fields: s.FieldNames(), Limit: 2 * picturesOfAPiece})
			for _, r := range page.Records {
				found[i] = append(found[i], s.Thing(r))
			}
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	out := slices.Concat(found...)
	slices.SortStableFunc(out, func(a, b things.Thing) int { return b.At.Compare(*a.At) })
	return out, nil
}

// shortList names some sources, and how many more there are.
func shortList(names []string) string {
	const named = 2
	cut := make([]string, 0, named+1)
	for i, name := range names {
		if i == named {
			cut = append(cut, text.Count(int64(len(names)-named), "other", "others"))
			break
		}
		cut = append(cut, text.Cut(text.Line(name), 30))
	}
	return text.List(cut)
}

// greeting is how the page begins, by the time of day.
func (page *todayPage) greeting() string {
	switch hour := page.Now.Hour(); {
	case hour < 5:
		return "Good night"
	case hour < 12:
		return "Good morning"
	case hour < 18:
		return "Good afternoon"
	default:
		return "Good evening"
	}
}

// lede is the date, and how much is new.
func (page *todayPage) lede() string {
	date := page.Now.Format("Monday 2 January") + ". "
	if page.Arrived == 0 {
		return date + "Nothing that happened since yesterday has arrived yet."
	}
	return date + text.Count(page.Arrived, "thing", "things") + " since yesterday, from " +
		text.Count(int64(page.From), "source", "sources") + "."
}
