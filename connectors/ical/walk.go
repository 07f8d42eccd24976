package ical

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/dav"
	"github.com/pdpp-go/pdpp/connectorkit/icalendar"
)

// thing is an event or a task, and what is sent of it.
type thing struct {
	*icalendar.Thing
	data any
}

// perSlice is how many records become durable at once.
const perSlice = 500

// prefix begins the member of the bookmark that is a feed's.
const prefix = "feed "

// walk goes through the feeds once.
type walk struct {
	feeds  []*feed
	things func(icalendar.Calendar) []thing
	dated  bool // the time of a record is that by which publishers leave it out

	begun    bool
	memories map[string]*memory
	at       int
	left     []connectorkit.Record // of the feed that is being sent,
	marks    []func(*memory)       // and what each of them changes in the memory
}

func (w *walk) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if !w.begun {
		w.memories = map[string]*memory{}
		for name, text := range at {
			if id := name[min(len(prefix), len(name)):]; name == prefix+id {
				w.memories[id] = memoryOf(text)
			}
		}
		w.begun = true
	}
	page := connectorkit.Page{}
	for len(page.Records) == 0 && w.at < len(w.feeds) {
		f := w.feeds[w.at]
		if w.memories[f.id] == nil {
			w.memories[f.id] = memoryOf("{}")
		}
		m := w.memories[f.id]
		if len(w.left) == 0 {
			unchanged, err := f.read(ctx, m.Tag)
			if err != nil {
				return connectorkit.Page{}, err
			}
			if unchanged {
				w.at++
				continue
			}
			w.compare(f, m)
		}
		n := min(perSlice, len(w.left))
		page.Records = w.left[:n]
		for _, mark := range w.marks[:n] {
			mark(m)
		}
		if w.left, w.marks = w.left[n:], w.marks[n:]; len(w.left) == 0 {
			m.Tag = f.tag
			w.at++
		}
	}
	if page.More = w.at < len(w.feeds); !page.More {
		page.Records = append(page.Records, w.dropped()...)
		page.Whole = w.whole()
	}
	page.Next = connectorkit.Cursor{}
	for id, m := range w.memories {
		page.Next[prefix+id] = m.encode()
	}
	return page, nil
}

// compare finds what of a feed is new or changed, and what is deleted. As time goes by, a
// feed leaves out what lies far back: an event that is missing before the first one that is
// shown may only no longer be shown, and stays. One after it was shown before and would be
// still, and so would an occurrence of a series that is.
func (w *walk) compare(f *feed, m *memory) {
	listed, series := map[string]bool{}, map[[versionBytes]byte]bool{}
	first := begins(f.cal)
	for _, t := range w.things(f.cal) {
		w.belongs(t, f, listed)
		now := remember(t)
		series[now.series] = true
		if before, have := m.things[t.ID]; !have || before.version != now.version {
			id := t.ID
			w.left = append(w.left, connectorkit.Upsert(t.data))
			w.marks = append(w.marks, func(m *memory) { m.things[id] = now })
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.things)) {
		k := m.things[id]
		if !listed[id] && (series[k.series] || k.start == noStart || k.start >= first) {
			w.left = append(w.left, connectorkit.Delete(id))
			w.marks = append(w.marks, func(m *memory) { delete(m.things, id) })
		}
	}
}

// whole claims that everything the feeds show is known, where every feed was read in this run. Which feed a stored
// event came from is not known, so that the feed with the latest beginning decides from when on events are compared.
// Tasks are not compared: the time of their records is not the time by which publishers leave them out.
func (w *walk) whole() *connectorkit.Whole {
	first := int64(noStart)
	for _, f := range w.feeds {
		if !f.asked {
			return nil
		}
		first = max(first, begins(f.cal))
	}
	if !w.dated || first == noStart || first == -noStart {
		return nil
	}
	return &connectorkit.Whole{Since: time.Unix(first, 0), Gone: connectorkit.AllGone,
		Keys: func(yield func(string) bool) {
			for _, m := range w.memories {
				for id := range m.things {
					if !yield(id) {
						return
					}
				}
			}
		}}
}

// begins is when the first event or task of a feed is; after everything when it has none.
func begins(cal icalendar.Calendar) int64 {
	first := -noStart
	note := func(t *icalendar.Thing) {
		if start := startOf(t); start != noStart {
			first = min(first, start)
		}
	}
	for i := range cal.Events {
		note(&cal.Events[i].Thing)
	}
	for i := range cal.Todos {
		note(&cal.Todos[i].Thing)
	}
	return first
}

// belongs gives a thing its place and its key. One without a UID has that of its content,
// and one that is there twice under the same has a number.
func (w *walk) belongs(t thing, f *feed, listed map[string]bool) {
	if t.UID == "" {
		t.UID = dav.Key(t.Start, t.Summary, t.Location)
	}
	t.CalendarID, t.CalendarName = f.id, f.cal.Name
	t.ID = dav.Key(f.id, t.UID, t.RecurrenceID)
	for n := 2; listed[t.ID]; n++ {
		t.ID = dav.Key(f.id, t.UID, t.RecurrenceID, strconv.Itoa(n))
	}
	listed[t.ID] = true
}

// dropped deletes what came from feeds that are no longer entered.
func (w *walk) dropped() []connectorkit.Record {
	var out []connectorkit.Record
	for _, id := range slices.Sorted(maps.Keys(w.memories)) {
		if has(w.feeds, id) {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(w.memories[id].things)) {
			out = append(out, connectorkit.Delete(key))
		}
		delete(w.memories, id)
	}
	return out
}
