package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestUpkeepNotes(t *testing.T) {
	if notes := (Upkeep{Indexes: []FieldIndex{{State: IndexReady}}}).Notes(); notes != nil {
		t.Errorf("of nothing to do is said %+v", notes)
	}
	half, day := int64(50), time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	index := func(field string, state IndexState) FieldIndex {
		return FieldIndex{Connection: "Garden", Stream: "trees", Field: field, State: state}
	}
	being, given := index("made", IndexBuilding), index("size", IndexAbandoned)
	being.Percent, given.GivenUp = &half, &day
	u := Upkeep{
		Streams: []StreamUpkeep{
			{Connection: "Garden", Stream: "trees", Changes: 300, Counted: 0, Searchable: 300},
			{Connection: "Garden", Stream: "beds", Changes: 100, Counted: 100, Searchable: 99, Held: true},
			{Connection: "Shed", Stream: "tools", Changes: 100, Counted: 99, Searchable: 100},
		},
		Indexes: []FieldIndex{{State: IndexWaiting}, index("kind", IndexReady), being, given, index("a", IndexWaiting),
			index("b", IndexWaiting), index("c", IndexBuilding)},
	}
	want := []UpkeepNote{
		{"counting", "Records are still being counted by day: 24 % done. " +
			"Calendars, days and sizes leave out the rest until then; records and search are not affected.", continuesText,
			true},
		{"search", "The text of records is still being made searchable: 99 % done. A search leaves out the rest until then.",
			"It continues in pdpp serve once the run of beds of Garden has ended.", true},
		{"indexes", "Still to be indexed: made in trees of Garden (50 % done), " +
			"c in trees of Garden (being made), the times of all records, " +
			"a in trees of Garden and 1 more. " +
			"Nothing is missing: what is asked for by it is read through, and takes longer.", continuesText, true},
		{"indexes", "No index could be made in the time that others may be kept waiting: " +
			"size in trees of Garden (given up on 4 March 2026). " +
			"Nothing is missing: what is asked for by it is read through, and takes longer.",
			"pdpp serve tries again, within an hour at the latest, and takes longer for it each time: " +
				"it helps when little else goes on then.", false},
	}
	if diff := cmp.Diff(want, u.Notes()); diff != "" {
		t.Error(diff)
	}
}
