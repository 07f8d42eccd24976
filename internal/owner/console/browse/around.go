package browse

import (
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

// calendar holds the record counts of a day and of the days around it. Counts are per UTC day, but
// a page's day begins in the owner's time zone. Where counts are not exact enough, records are
// read.
type calendar struct {
	page *timelinePage
	all  *things.Streams
	// days are the counts of the streams that have any here, by stream.
	days map[*things.Stream][]utcDay
}

// utcDay is a day in UTC that has records.
type utcDay struct {
	from, to time.Time
	records  int64
}

// counted reports whether the counts of a stream locate its records. Times outside the counted
// years have no counts.
func (c *calendar) counted(s *things.Stream) bool {
	return s.Dated && c.page.Day.Year() > 1900 && c.page.Day.Year() < 2199
}

func (p *browsePages) calendar(ctx context.Context, page *timelinePage, all *things.Streams) (*calendar, error) {
	c := &calendar{page: page, all: all, days: map[*things.Stream][]utcDay{}}
	next := page.Day.AddDate(0, 0, 1)
	whole := time.Date(page.Day.Year(), page.Day.Month(), page.Day.Day(), 0, 0, 0, 0, time.UTC)
	first, last := page.Day.UTC(), next.Add(-time.Microsecond).UTC()
	if whole.Before(first) {
		first = whole
	}
	if whole.After(last) {
		last = whole
	}
	month := time.Date(page.Day.Year(), page.Day.Month(), 1, 0, 0, 0, 0, time.UTC)
	if month.Before(first) {
		first = month
	}
	if end := month.AddDate(0, 1, -1); end.After(last) {
		last = end
	}
	found, err := p.Owner.Days(ctx, api.DayQuery{From: first.Format(time.DateOnly), To: last.Format(time.DateOnly),
		Nearest: true})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if s := all.Find(f.ConnectionID, f.Stream); s != nil {
			from, err := time.Parse(time.DateOnly, f.Day)
			if err != nil {
				return nil, err
			}
			c.days[s] = append(c.days[s], utcDay{from, from.AddDate(0, 0, 1), f.Records})
		}
	}
	return c, nil
}

// may reports whether a stream can have records of the day.
func (c *calendar) may(s *things.Stream) bool {
	if !c.counted(s) {
		return true
	}
	from, to := s.Bounds(c.page.Day)
	for _, d := range c.days[s] {
		if d.from.Before(to) && from.Before(d.to) {
			return true
		}
	}
	return false
}

// count is how many records a stream has from one time to another, where that is a day in UTC which
// is counted.
func (c *calendar) count(s *things.Stream, from, to time.Time) (n int64, known bool) {
	whole := from.UTC().Truncate(24*time.Hour).Equal(from) && to.Sub(from) == 24*time.Hour
	if !c.counted(s) || !whole {
		return 0, false
	}
	for _, d := range c.days[s] {
		if d.from.Equal(from) {
			return min(d.records, api.MostCounted+1), true
		}
	}
	return 0, true
}

// around finds the nearest days before and after that have anything.
func (p *browsePages) around(ctx context.Context, c *calendar) error {
	page := c.page
	for _, way := range []struct {
		newer bool
		into  *time.Time
		at    *string
	}{{false, &page.OlderDay, &page.Older}, {true, &page.NewerDay, &page.Newer}} {
		near := &nearest{browsePages: p, calendar: c, newer: way.newer}
		for i := range c.all.All {
			if s := &c.all.All[i]; s.Happens() && page.shows(s) {
				near.add(s)
			}
		}
		day, err := near.find(ctx)
		if err != nil {
			return err
		}
		if *way.into = day; !day.IsZero() {
			at := page.choice
			at.record, at.day = "", day.Format(time.DateOnly)
			*way.at = at.address()
		}
	}
	return nil
}

// nearest is the search for a day before or after the page's.
type nearest struct {
	*browsePages
	*calendar
	newer      bool
	candidates []candidate
}

// candidate is a part of time in which a stream has records, or may have some; a zero time is no
// bound.
type candidate struct {
	in       *things.Stream
	from, to time.Time
}

// add adds the candidates of a stream: the days that are counted, as far as they are beyond
// the page's day, or all time beyond it.
func (n *nearest) add(s *things.Stream) {
	from, to := s.Bounds(n.page.Day)
	beyond := candidate{in: s, to: from}
	if n.newer {
		beyond = candidate{in: s, from: to}
	}
	if !n.counted(s) {
		n.candidates = append(n.candidates, beyond)
		return
	}
	for _, d := range n.days[s] {
		one := candidate{s, d.from, d.to}
		if n.newer && one.from.Before(to) {
			one.from = to
		}
		if !n.newer && one.to.After(from) {
			one.to = from
		}
		if one.from.Before(one.to) {
			n.candidates = append(n.candidates, one)
		}
	}
}

// find looks into the candidates, those that may have the nearest records first.
func (n *nearest) find(ctx context.Context) (best time.Time, err error) {
	slices.SortStableFunc(n.candidates, func(a, b candidate) int {
		one, other := n.reach(&a), n.reach(&b)
		switch {
		case one.IsZero() || other.IsZero():
			return one.Compare(other) // nothing is known of the candidates without a bound
		case n.newer:
			return one.Compare(other)
		}
		return other.Compare(one)
	})
	nearer := func(day time.Time) bool {
		return best.IsZero() || n.newer && day.Before(best) || !n.newer && day.After(best)
	}
	for i := range n.candidates {
		if reach := n.reach(&n.candidates[i]); !reach.IsZero() && !nearer(reach) {
			break
		}
		day, err := n.look(ctx, &n.candidates[i])
		if err != nil {
			return best, err
		}
		if !day.IsZero() && nearer(day) {
			best = day
		}
	}
	return best, nil
}

// reach is the nearest day that a candidate can have; zero where it is not bounded.
func (n *nearest) reach(p *candidate) time.Time {
	switch {
	case n.newer && !p.to.IsZero():
		return n.dayOf(p.in, p.from)
	case !n.newer && !p.from.IsZero():
		return n.dayOf(p.in, p.to.Add(-time.Microsecond))
	}
	return time.Time{}
}

// dayOf is the day of a time on the pages.
func (n *nearest) dayOf(s *things.Stream, at time.Time) time.Time {
	zone := n.page.Day.Location()
	if !s.Display.Days {
		at = at.In(zone)
	}
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, zone)
}

// look returns the nearest day in a candidate, or zero if there is none. A counted whole day has
// records. It needs no read if all of it falls on one day of the pages.
func (n *nearest) look(ctx context.Context, p *candidate) (time.Time, error) {
	if !p.from.IsZero() && !p.to.IsZero() && p.to.Sub(p.from) == 24*time.Hour {
		if first, last := n.dayOf(p.in, p.from), n.dayOf(p.in, p.to.Add(-time.Microsecond)); first.Equal(last) {
			return first, nil
		}
	}
	found, err := n.Owner.Records(ctx, api.RecordQuery{ConnectionID: p.in.ConnectionID, Stream: p.in.Name, ByTime: true,
		Since: p.from, Until: p.to, Oldest: n.newer, Fields: []string{}, Limit: 1})
	if err != nil || len(found.Records) == 0 {
		return time.Time{}, err
	}
	return n.dayOf(p.in, *found.Records[0].At), nil
}
