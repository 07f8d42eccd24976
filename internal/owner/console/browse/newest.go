package browse

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

// place is where a list of several streams by time goes on: at a moment, and beyond it. Of one
// moment the streams come one after the other, by their names in addresses; in is the one that the
// page before ended in, and past how far it was read there. The zero value is the beginning.
type place struct {
	at   time.Time
	in   string // empty: nothing of the moment was read
	past string // a cursor; empty: all of the moment was read of it
}

// readPlace reads a place off an address; nonsense means the beginning.
func readPlace(at, in, past string) (p place) {
	var known bool
	if p.at, known = api.ParseMoment(at); !known {
		return place{}
	}
	if p.in = in; in != "" {
		p.past = past
	}
	return p
}

// write puts the place into an address; the moment under a name.
func (p place) write(q url.Values, at string) {
	if p.at.IsZero() {
		return
	}
	for name, value := range map[string]string{at: moment(p.at), "in": p.in, "past": p.past} {
		if value != "" {
			q.Set(name, value)
		}
	}
}

// walk reads streams by time, from the newest to the oldest or the other way round.
type walk struct {
	of     []*things.Stream // all of them declare a time
	thread string           // only what belongs to a conversation
	oldest bool             // that comes first
}

// stretch is a page of several streams by time.
type stretch struct {
	things []things.Thing
	next   *place // nil when there is nothing beyond
}

// ask is the question for what a stream has from a place on.
func (w walk) ask(s *things.Stream, at place, n int) api.RecordQuery {
	q := api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true, Oldest: w.oldest, Thread: w.thread,
		Fields: s.FieldNames(), Limit: n}
	if at.at.IsZero() {
		return q
	}
	from, name := at.at, s.Path()
	whole := at.in == "" || name > at.in || name == at.in && at.past != "" // the moment is part of it
	if name == at.in {
		q.Cursor = at.past
	}
	switch {
	case w.oldest && whole:
		q.Since = from
	case w.oldest:
		q.Since = from.Add(time.Microsecond)
	case whole:
		q.Until = from.Add(time.Microsecond)
	default:
		q.Until = from
	}
	return q
}

// follow returns the next n records, starting at a place.
func (p *browsePages) follow(ctx context.Context, w walk, at place, n int) (*stretch, error) {
	type one struct {
		things.Thing
		more bool // behind it the stream has some that were not read
	}
	var all []one
	for _, s := range w.of {
		found, err := p.Owner.Records(ctx, w.ask(s, at, n))
		if err != nil {
			return nil, err
		}
		for i, r := range found.Records {
			all = append(all, one{s.Thing(r), found.Next != "" && i == len(found.Records)-1})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int {
		by := a.At.Compare(*b.At)
		if !w.oldest {
			by = -by
		}
		return cmp.Or(by, strings.Compare(a.In.Path(), b.In.Path()))
	})
	out := &stretch{}
	for i := range all {
		out.things = append(out.things, all[i].Thing)
		if len(out.things) < n && !all[i].more || i == len(all)-1 && !all[i].more {
			continue
		}
		last := &all[i]
		split := last.more || i < len(all)-1 && all[i+1].At.Equal(*last.At) && all[i+1].In == last.In
		next, err := p.behindOf(ctx, w, at, out.things, split)
		out.next = next
		return out, err
	}
	return out, nil
}

// behindOf is the place behind things, within the moment of the last of them when that is split.
func (p *browsePages) behindOf(ctx context.Context, w walk, at place, things []things.Thing, split bool) (*place,
	error) {
	last := &things[len(things)-1]
	next := &place{at: *last.At, in: last.In.Path()}
	if !split {
		return next, nil
	}
	read := 0
	for i := len(things) - 1; i >= 0 && things[i].At.Equal(*last.At); i-- {
		if things[i].In == last.In {
			read++
		}
	}
	// A cursor is valid only for the query that returned it: the one that begins at this moment.
	from := place{at: *last.At}
	if at.at.Equal(*last.At) && at.in == next.in && at.past != "" {
		from = at
	}
	found, err := p.Owner.Records(ctx, w.ask(last.In, from, read))
	next.past = found.Next
	return next, err
}

// bySource counts the records of streams by their connections, those with most first.
func bySource(of []*things.Stream, address func(connection string) string, chosen string) (all []facet) {
	at := map[string]int{}
	var sum int64
	for _, s := range of {
		i, known := at[s.ConnectionID]
		if !known {
			i = len(all)
			at[s.ConnectionID] = i
			all = append(all, facet{Label: s.ConnectionName, Address: address(s.ConnectionID),
				Current: s.ConnectionID == chosen})
		}
		all[i].Count += s.Records
		sum += s.Records
	}
	slices.SortStableFunc(all, func(a, b facet) int { return cmp.Compare(b.Count, a.Count) })
	return append([]facet{{Label: "All sources", Address: address(""), Count: sum, Current: chosen == ""}}, all...)
}
