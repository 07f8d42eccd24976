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

// calendarThing is an event or a task, with its record.
type calendarThing struct {
	*icalendar.CommonFields
	data any
}

// recordsPerSlice is how many records become durable at once.
const recordsPerSlice = 500

// feedMemberPrefix begins the member of the bookmark that is a feed's.
const feedMemberPrefix = "feed "

// feedWalk goes through the feeds once.
type feedWalk struct {
	feeds  []*calendarFeed
	things func(icalendar.Calendar) []calendarThing
	dated  bool // the time of a record is that by which publishers leave it out

	begun    bool
	memories map[string]*feedMemory
	at       int
	left     []connectorkit.Record // of the feed that is being sent,
	marks    []func(*feedMemory)   // and what each of them changes in the memory
}

func (w *feedWalk) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if !w.begun {
		w.memories = map[string]*feedMemory{}
		for name, text := range at {
			if id := name[min(len(feedMemberPrefix), len(name)):]; name == feedMemberPrefix+id {
				w.memories[id] = parseMemory(text)
			}
		}
		w.begun = true
	}
	page := connectorkit.Page{}
	for len(page.Records) == 0 && w.at < len(w.feeds) {
		f := w.feeds[w.at]
		if w.memories[f.id] == nil {
			w.memories[f.id] = parseMemory("{}")
		}
		m := w.memories[f.id]
		if len(w.left) == 0 {
			unchanged, err := f.fetchFeed(ctx, m.Tag)
			if err != nil {
				return connectorkit.Page{}, err
			}
			if unchanged {
				w.at++
				continue
			}
			w.compareFeed(f, m)
		}
		n := min(recordsPerSlice, len(w.left))
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
		page.Records = append(page.Records, w.deleteDroppedFeeds()...)
		page.Whole = w.completeClaim()
	}
	page.Next = connectorkit.Cursor{}
	for id, m := range w.memories {
		page.Next[feedMemberPrefix+id] = m.encodeMemory()
	}
	return page, nil
}

// compareFeed finds new, changed and deleted events of a feed. Feeds drop old events over time: a missing event
// before the first listed one may only be dropped, and stays. A missing event after it is deleted, and so is a
// missing occurrence of a listed series.
func (w *feedWalk) compareFeed(f *calendarFeed, m *feedMemory) {
	listed, series := map[string]bool{}, map[[versionBytes]byte]bool{}
	first := earliestStart(f.cal)
	for _, t := range w.things(f.cal) {
		w.assignKey(t, f, listed)
		now := rememberEvent(t)
		series[now.series] = true
		if before, have := m.things[t.ID]; !have || before.version != now.version {
			id := t.ID
			w.left = append(w.left, connectorkit.Upsert(t.data))
			w.marks = append(w.marks, func(m *feedMemory) { m.things[id] = now })
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.things)) {
		k := m.things[id]
		if !listed[id] && (series[k.series] || k.start == unknownStart || k.start >= first) {
			w.left = append(w.left, connectorkit.Delete(id))
			w.marks = append(w.marks, func(m *feedMemory) { delete(m.things, id) })
		}
	}
}

// completeClaim claims that everything the feeds show is known, where every feed was read in this run. Which feed a
// stored event came from is not known, so that the feed with the latest beginning decides from when on events are
// compared. Tasks are not compared: the time of their records is not the time by which publishers leave them out.
func (w *feedWalk) completeClaim() *connectorkit.Whole {
	first := int64(unknownStart)
	for _, f := range w.feeds {
		if !f.asked {
			return nil
		}
		first = max(first, earliestStart(f.cal))
	}
	if !w.dated || first == unknownStart || first == -unknownStart {
		return nil
	}
	return &connectorkit.Whole{Since: time.Unix(first, 0), Gone: connectorkit.AllKeysGone,
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

// earliestStart returns the start of the first event or task of a feed; the latest time when it has none.
func earliestStart(cal icalendar.Calendar) int64 {
	first := -unknownStart
	note := func(t *icalendar.CommonFields) {
		if start := eventStart(t); start != unknownStart {
			first = min(first, start)
		}
	}
	for i := range cal.Events {
		note(&cal.Events[i].CommonFields)
	}
	for i := range cal.Todos {
		note(&cal.Todos[i].CommonFields)
	}
	return first
}

// assignKey sets the place and the key of an entry. An entry without a UID uses a digest of its content, and a
// repeated key gets a number.
func (w *feedWalk) assignKey(t calendarThing, f *calendarFeed, listed map[string]bool) {
	if t.UID == "" {
		t.UID = dav.RecordKey(t.Start, t.Summary, t.Location)
	}
	t.CalendarID, t.CalendarName = f.id, f.cal.Name
	t.ID = dav.RecordKey(f.id, t.UID, t.RecurrenceID)
	for n := 2; listed[t.ID]; n++ {
		t.ID = dav.RecordKey(f.id, t.UID, t.RecurrenceID, strconv.Itoa(n))
	}
	listed[t.ID] = true
}

// deleteDroppedFeeds deletes what came from feeds that are no longer entered.
func (w *feedWalk) deleteDroppedFeeds() []connectorkit.Record {
	var out []connectorkit.Record
	for _, id := range slices.Sorted(maps.Keys(w.memories)) {
		if containsFeed(w.feeds, id) {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(w.memories[id].things)) {
			out = append(out, connectorkit.Delete(key))
		}
		delete(w.memories, id)
	}
	return out
}
