package store

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// IndexAbove is how many live records a stream needs for its declared fields to be indexed. A smaller stream is
// scanned fast enough.
const IndexAbove = 20_000

// Upkeep is the progress of what is derived from stored records: counts, search text and indexes.
type Upkeep struct {
	Streams []StreamUpkeep // not fully counted and searchable, by connection and name
	Indexes []FieldIndex   // wanted, by connection, stream and field
}

// StreamUpkeep is how many of a stream's changes are counted by day, and how many are searchable.
type StreamUpkeep struct {
	ConnectionID string
	Connection   string // its name
	Stream       string
	Changes      int64
	Counted      int64
	Searchable   int64
	Held         bool // a run is active; the work waits for its end
}

// IndexState is the progress of an index.
type IndexState string

const (
	IndexReady     IndexState = "ready"
	IndexWaiting   IndexState = "waiting" // not started
	IndexBuilding  IndexState = "being_made"
	IndexAbandoned IndexState = "given_up" // building it would have blocked others for too long
)

// FieldIndex is an index that a connector's declaration requires. The time index covers all streams and names none.
type FieldIndex struct {
	ConnectionID string
	Connection   string // its name
	Stream       string
	Field        string
	State        IndexState
	Percent      *int64     // while building; nil when unknown
	GivenUp      *time.Time // when building was abandoned
}

// UpkeepNote describes one unfinished job in words.
type UpkeepNote struct {
	Kind       string // counting, search or indexes
	Text       string
	Next       string
	InProgress bool // it finishes without the owner
}

// Notes describes the unfinished jobs, their effect and the next step. Console, commands and API show the same texts.
func (u Upkeep) Notes() (notes []UpkeepNote) {
	add := func(kind, doing, means string, done func(StreamUpkeep) int64) {
		var changes, made int64
		var held []string
		for _, s := range u.Streams {
			n := done(s)
			if n >= s.Changes {
				continue
			}
			changes += s.Changes
			made += n
			if s.Held {
				held = append(held, s.Stream+" of "+s.Connection)
			}
		}
		if changes == 0 {
			return
		}
		next := continuesText
		if len(held) > 0 {
			next = "It continues in pdpp serve once the run of " + joinFirstNames(held) + " has ended."
		}
		notes = append(notes, UpkeepNote{Kind: kind, InProgress: true,
			Text: fmt.Sprintf("%s: %d %% done. %s", doing, min(99, made*100/changes), means), Next: next})
	}
	add("counting", "Records are still being counted by day",
		"Calendars, days and sizes leave out the rest until then; records and search are not affected.",
		func(s StreamUpkeep) int64 { return s.Counted })
	add("search", "The text of records is still being made searchable", "A search leaves out the rest until then.",
		func(s StreamUpkeep) int64 { return s.Searchable })
	byState := map[IndexState][]string{}
	for _, i := range u.Indexes {
		byState[i.State] = append(byState[i.State], i.description())
	}
	const slower = "Nothing is missing: what is asked for by it is read through, and takes longer."
	if being := append(byState[IndexBuilding], byState[IndexWaiting]...); len(being) > 0 {
		notes = append(notes, UpkeepNote{Kind: "indexes", InProgress: true, Text: "Still to be indexed: " +
			joinFirstNames(being) + ". " + slower, Next: continuesText})
	}
	if given := byState[IndexAbandoned]; len(given) > 0 {
		notes = append(notes, UpkeepNote{Kind: "indexes",
			Text: "No index could be made in the time that others may be kept waiting: " + joinFirstNames(given) + ". " + slower,
			Next: "pdpp serve tries again, within an hour at the latest, and takes longer for it each time: " +
				"it helps when little else goes on then."})
	}
	return notes
}

const continuesText = "It continues while pdpp serve runs."

// description returns the name of the index and its progress.
func (i FieldIndex) description() string {
	name := i.Field + " in " + i.Stream + " of " + i.Connection
	if i.Stream == "" {
		name = "the times of all records"
	}
	switch {
	case i.State == IndexBuilding && i.Percent != nil:
		name += " (" + strconv.FormatInt(*i.Percent, 10) + " % done)"
	case i.State == IndexBuilding:
		name += " (being made)"
	case i.GivenUp != nil:
		name += " (given up on " + i.GivenUp.UTC().Format("2 January 2006") + ")"
	}
	return name
}

// joinFirstNames joins the first names and counts the rest.
func joinFirstNames(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}
