package things

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Place is where a list of several streams by time goes on: at a moment, and beyond it. Of one
// moment the streams come one after the other, by their names in addresses; in is the one that the
// page before ended in, and past how far it was read there. The zero value is the beginning.
type Place struct {
	At   time.Time
	in   string // empty: nothing of the moment was read
	past string // a cursor; empty: all of the moment was read of it
}

// ReadPlace reads a place off an address; nonsense means the beginning.
func ReadPlace(at, in, past string) (p Place) {
	var known bool
	if p.At, known = api.ParseMoment(at); !known {
		return Place{}
	}
	if p.in = in; in != "" {
		p.past = past
	}
	return p
}

// Write puts the place into an address; the moment under a name.
func (p Place) Write(q url.Values, at string) {
	if p.At.IsZero() {
		return
	}
	for name, value := range map[string]string{at: Moment(p.At), "in": p.in, "past": p.past} {
		if value != "" {
			q.Set(name, value)
		}
	}
}

// Walk reads streams by time, from the newest to the oldest or the other way round.
type Walk struct {
	Of     []*Stream // all of them declare a time
	Thread string    // only what belongs to a conversation
	Oldest bool      // that comes first
}

// Stretch is a page of several streams by time.
type Stretch struct {
	Things []Thing
	Next   *Place // nil when there is nothing beyond
}

// ask is the question for what a stream has from a place on.
func (w Walk) ask(s *Stream, at Place, n int) api.RecordQuery {
	q := api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true, Oldest: w.Oldest, Thread: w.Thread,
		Fields: s.FieldNames(), Limit: n}
	if at.At.IsZero() {
		return q
	}
	from, name := at.At, s.Path()
	whole := at.in == "" || name > at.in || name == at.in && at.past != "" // the moment is part of it
	if name == at.in {
		q.Cursor = at.past
	}
	switch {
	case w.Oldest && whole:
		q.Since = from
	case w.Oldest:
		q.Since = from.Add(time.Microsecond)
	case whole:
		q.Until = from.Add(time.Microsecond)
	default:
		q.Until = from
	}
	return q
}

// Read returns the next n records, starting at a place.
func (w Walk) Read(ctx context.Context, owner api.Records, at Place, n int) (*Stretch, error) {
	type one struct {
		Thing
		more bool // behind it the stream has some that were not read
	}
	var all []one
	for _, s := range w.Of {
		found, err := owner.Records(ctx, w.ask(s, at, n))
		if err != nil {
			return nil, err
		}
		for i, r := range found.Records {
			all = append(all, one{s.Thing(r), found.Next != "" && i == len(found.Records)-1})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int {
		by := a.At.Compare(*b.At)
		if !w.Oldest {
			by = -by
		}
		return cmp.Or(by, strings.Compare(a.In.Path(), b.In.Path()))
	})
	out := &Stretch{}
	for i := range all {
		out.Things = append(out.Things, all[i].Thing)
		if len(out.Things) < n && !all[i].more || i == len(all)-1 && !all[i].more {
			continue
		}
		last := &all[i]
		split := last.more || i < len(all)-1 && all[i+1].At.Equal(*last.At) && all[i+1].In == last.In
		next, err := w.behindOf(ctx, owner, at, out.Things, split)
		out.Next = next
		return out, err
	}
	return out, nil
}

// behindOf is the place behind things, within the moment of the last of them when that is split.
func (w Walk) behindOf(ctx context.Context, owner api.Records, at Place, things []Thing, split bool) (*Place,
	error) {
	last := &things[len(things)-1]
	next := &Place{At: *last.At, in: last.In.Path()}
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
	from := Place{At: *last.At}
	if at.At.Equal(*last.At) && at.in == next.in && at.past != "" {
		from = at
	}
	found, err := owner.Records(ctx, w.ask(last.In, from, read))
	next.past = found.Next
	return next, err
}

// Moment formats a time for an address.
func Moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999Z") }
