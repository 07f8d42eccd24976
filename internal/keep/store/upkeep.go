package store

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// IndexAbove is how many live records a stream has whose declared fields are indexed: of a
// smaller one all records are looked through in no time.
const IndexAbove = 20_000

// Upkeep is what is made of stored records beside the records themselves, and how far that is.
type Upkeep struct {
	Streams []StreamUpkeep // that are not all counted and searchable, by connection and name
	Indexes []FieldIndex   // that there should be, by connection, stream and field
}

// StreamUpkeep is how many of a stream's changes are counted by day, and can be found by their text.
type StreamUpkeep struct {
	ConnectionID string
	Connection   string // its name
	Stream       string
	Changes      int64
	Counted      int64
	Searchable   int64
	Held         bool // a run goes on, and nothing is done before it ends
}

// IndexState is how far an index is.
type IndexState string

const (
	IndexReady   IndexState = "ready"
	IndexWaiting IndexState = "waiting" // to be made
	IndexBeing   IndexState = "being_made"
	IndexGivenUp IndexState = "given_up" // it took longer than others may be kept waiting
)

// FieldIndex is an index that a connector's declaration asks for. The one of times is of all streams,
// and names none.
type FieldIndex struct {
	ConnectionID string
	Connection   string // its name
	Stream       string
	Field        string
	State        IndexState
	Percent      *int64     // of one that is being made; nil where that is not known
	GivenUp      *time.Time // when that was
}

// UpkeepNote is one thing that is not done, in words.
type UpkeepNote struct {
	Kind  string // counting, search or indexes
	Text  string
	Next  string
	Going bool // it ends by itself
}

// Notes says what is not done, what that means and what comes next, as every surface says it.
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
		next := goesOn
		if len(held) > 0 {
			next = "It continues in pdpp serve once the run of " + few(held) + " has ended."
		}
		notes = append(notes, UpkeepNote{Kind: kind, Going: true, Text: fmt.Sprintf("%s: %d %% done. %s", doing, min(99, made*100/changes), means), Next: next})
	}
	add("counting", "Records are still being counted by day", "Calendars, days and sizes leave out the rest until then; records and search are not affected.", func(s StreamUpkeep) int64 { return s.Counted })
	add("search", "The text of records is still being made searchable", "A search leaves out the rest until then.", func(s StreamUpkeep) int64 { return s.Searchable })
	byState := map[IndexState][]string{}
	for _, i := range u.Indexes {
		byState[i.State] = append(byState[i.State], i.named())
	}
	const slower = "Nothing is missing: what is asked for by it is read through, and takes longer."
	if being := append(byState[IndexBeing], byState[IndexWaiting]...); len(being) > 0 {
		notes = append(notes, UpkeepNote{Kind: "indexes", Going: true, Text: "Still to be indexed: " + few(being) + ". " + slower, Next: goesOn})
	}
	if given := byState[IndexGivenUp]; len(given) > 0 {
		notes = append(notes, UpkeepNote{Kind: "indexes", Text: "No index could be made in the time that others may be kept waiting: " + few(given) + ". " + slower,
			Next: "pdpp serve tries again, within an hour at the latest, and takes longer for it each time: it helps when little else goes on then."})
	}
	return notes
}

const goesOn = "It continues while pdpp serve runs."

// named says which index it is, and how far.
func (i FieldIndex) named() string {
	name := i.Field + " in " + i.Stream + " of " + i.Connection
	if i.Stream == "" {
		name = "the times of all records"
	}
	switch {
	case i.State == IndexBeing && i.Percent != nil:
		name += " (" + strconv.FormatInt(*i.Percent, 10) + " % done)"
	case i.State == IndexBeing:
		name += " (being made)"
	case i.GivenUp != nil:
		name += " (given up on " + i.GivenUp.UTC().Format("2 January 2006") + ")"
	}
	return name
}

// few names some of many.
func few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}
