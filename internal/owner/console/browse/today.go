package browse

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/sync/errgroup"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
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
}

// piece is what is new of one kind.
type piece struct {
	Kind     records.ThingKind
	Count    int64
	Headline string
	From     string
	Lines    []pieceLine
	Pictures []picture
	sources  []string
}

// pieceLine is one thing, with the address where it is read.
type pieceLine struct{ Text, Address string }

// pastDay is this day in an earlier year.
type pastDay struct {
	Year     string
	Sentence string
	Quote    string
	Picture  *picture
	Address  string
}

const (
	// streamsOfAPiece bounds how many streams are read for what is new of a kind.
	streamsOfAPiece = 3
	// linesOfAPiece and picturesOfAPiece are how much of it is shown.
	linesOfAPiece    = 2
	picturesOfAPiece = 3
	// pastYears is how many earlier years are looked at, and pastShown how many of them are drawn.
	pastYears = 10
	pastShown = 3
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
	kept, err := p.Owner.Kept(ctx)
	if err != nil {
		return err
	}
	page.Heat = records.YearHeat(kept)
	if err := p.fillNew(ctx, page, all, now); err != nil {
		return err
	}
	return p.fillPast(ctx, page, all, &kept, now)
}

// fillNew reads what happened since yesterday, by kind.
func (p *browsePages) fillNew(ctx context.Context, page *todayPage, all *streams, now time.Time) error {
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
	*stream
	count int64
}

// gather puts the streams that have records of the days into groups, the busiest first, and lists their sources.
func (p *browsePages) gather(counts []api.DayCount, all *streams) (map[string][]busyStream, map[string]bool) {
	groups, sources, at := map[string][]busyStream{}, map[string]bool{}, map[*stream]int64{}
	for _, c := range counts {
		if s := all.find(c.ConnectionID, c.Stream); s != nil && s.happens() && c.Records > 0 {
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
	things, err := p.newest(ctx, streams[:min(len(streams), streamsOfAPiece)], since, time.Time{})
	if err != nil {
		return out, err
	}
	for i := range things {
		t := &things[i]
		if t.in.kind() == manifest.KindFile && t.isPicture() {
			if len(out.Pictures) < picturesOfAPiece {
				out.Pictures = append(out.Pictures, t.picture())
			}
			continue
		}
		if line := n.called(t); line != "" && len(out.Lines) < linesOfAPiece && t.text("current") != "false" {
			out.Lines = append(out.Lines, pieceLine{line, t.address()})
		}
	}
	if len(out.Pictures) > 0 {
		out.Lines = nil
	}
	return out, nil
}

// picture is a file that can be shown small.
func (t *thing) picture() picture {
	one := picture{Title: t.fileName(), Source: t.in.ConnectionName, Address: t.address(),
		Small: t.address() + "/files/" + ui.Segment(t.file().SHA256) + ui.ThumbnailPart}
	if t.At != nil {
		one.At = *t.At
	}
	return one
}

// newest reads the newest things of some streams from one moment to another, the newest first.
func (p *browsePages) newest(ctx context.Context, streams []busyStream, since, until time.Time) ([]thing, error) {
	found := make([][]thing, len(streams))
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(readers)
	for i, s := range streams {
		reading.Go(func() error {
			page, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true,
				Since: since, Until: until, Fields: s.fields(), Limit: 2 * picturesOfAPiece})
			for _, r := range page.Records {
				found[i] = append(found[i], s.thing(r))
			}
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	out := slices.Concat(found...)
	slices.SortStableFunc(out, func(a, b thing) int { return b.At.Compare(*a.At) })
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

// fillPast reads this day in earlier years. A year has something, nothing, or was not collected.
func (p *browsePages) fillPast(ctx context.Context, page *todayPage, all *streams, kept *api.Kept,
	now time.Time) error {
	var empty, unknown []string
	for back := 1; back <= pastYears && kept.FirstDay != ""; back++ {
		day := time.Date(now.Year()-back, now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
		if day.Month() != now.Month() || day.Year() < yearOf(kept.FirstDay) {
			continue // there was no 29 February, or nothing reaches back so far
		}
		name := day.Format(time.DateOnly)
		counts, err := p.Owner.Days(ctx, api.DayQuery{From: name, To: name})
		if err != nil {
			return err
		}
		groups, _ := p.gather(counts, all)
		switch {
		case len(groups) > 0 && len(page.Past) < pastShown:
			past, err := p.pastDay(ctx, all, groups, day)
			if err != nil {
				return err
			}
			page.Past = append(page.Past, past)
		case len(groups) > 0:
		case coveredOn(kept, name):
			empty = append(empty, strconv.Itoa(day.Year()))
		default:
			unknown = append(unknown, strconv.Itoa(day.Year()))
		}
	}
	if len(empty) > 0 {
		page.Years = "Nothing happened in " + text.List(empty) + ", as far as your sources know. "
	}
	if len(unknown) > 0 {
		page.Years += "Not collected: " + text.List(unknown) + "."
	}
	return nil
}

func yearOf(day string) int {
	year, _ := strconv.Atoi(day[:4])
	return year
}

// coveredOn reports whether some source was collected on a day.
func coveredOn(kept *api.Kept, day string) bool {
	return slices.ContainsFunc(kept.Sources, func(s api.KeptSource) bool {
		return slices.ContainsFunc(s.Covered, func(c api.Covered) bool { return c.From <= day && day <= c.To })
	})
}

// pastDay describes a day by its counts, one picture and one line.
func (p *browsePages) pastDay(ctx context.Context, all *streams, groups map[string][]busyStream,
	day time.Time) (pastDay, error) {
	out := pastDay{Year: day.Format("2006"), Address: choice{day: day.Format(time.DateOnly)}.address()}
	var counted []string
	var chosen []busyStream
	for _, l := range records.Kinds {
		var n int64
		for _, s := range groups[l.Name] {
			n += s.count
		}
		if n == 0 {
			continue
		}
		counted = append(counted, text.Count(n, l.One, l.Many))
		if len(chosen) < streamsOfAPiece {
			chosen = append(chosen, groups[l.Name][0])
		}
	}
	out.Sentence = text.Upper(text.List(counted)) + "."
	things, err := p.newest(ctx, chosen, day, day.AddDate(0, 0, 1))
	if err != nil {
		return out, err
	}
	names := p.names(ctx, all)
	for i := range things {
		t := &things[i]
		if t.in.kind() == manifest.KindFile && t.isPicture() && out.Picture == nil {
			one := t.picture()
			out.Picture = &one
		} else if k := t.in.kind(); out.Quote == "" && k != manifest.KindFile && k != manifest.KindMeasurement {
			out.Quote = text.Cut(names.called(t), longestNote)
		}
	}
	return out, nil
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
