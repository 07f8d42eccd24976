package googlecalendar_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/owner/occurrences"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/google"
)

// The stored events of a series are enough to compute its occurrences: every week, except for excluded and moved
// ones, which are separate events.
func TestOccurrences(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, google.Config{Seed: 8, Calendars: 2, Events: 21}))
	for _, m := range []providersim.Mutation{{Op: "move_occurrences", N: 4}, {Op: "void_occurrences", N: 4},
		{Op: "delete_series", N: 1}} {
		b.Sim.MutateData(t, m)
	}
	b.Succeed(t)
	stored, err := connectortest.StoredRecords(t.Context(), b.Store, google.StreamEvents)
	if err != nil {
		t.Fatal(err)
	}
	var events []occurrences.CalendarEvent
	for key, r := range stored {
		e, ok := occurrences.ReadEvent(key, r.Data)
		if !ok {
			t.Fatalf("%s is no event", key)
		}
		events = append(events, e)
	}
	span := occurrences.Range{From: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
		Until: time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC), Zone: time.UTC}
	found := occurrences.Expand(events, span, 100_000)
	if len(found.NotComputed) > 0 {
		t.Fatalf("not computed: %+v", found.NotComputed)
	}
	got := map[string]int{}
	for _, o := range found.Occurrences {
		got[o.Key+" "+o.Start]++
	}
	want := map[string]int{}
	series, changed := 0, map[string]bool{}
	truth := b.Sim.Provider.Truth()[google.StreamEvents]
	type event struct {
		ID, Status, RecurringEventID string
		Recurrence                   []string
		Start, OriginalStartTime     struct{ Date, DateTime, TimeZone string }
	}
	reports := map[string]event{}
	for key, item := range truth {
		var wire struct {
			Calendar string `json:"calendar_id"`
			Event    event  `json:"event"`
		}
		if err := json.Unmarshal(item.Data, &wire); err != nil {
			t.Fatal(err)
		}
		if item.Deleted {
			continue
		}
		e := wire.Event
		reports[key] = e
		if e.RecurringEventID != "" {
			changed[wire.Calendar+e.RecurringEventID+e.OriginalStartTime.Date+e.OriginalStartTime.DateTime] = true
		}
		if e.Status != "cancelled" && len(e.Recurrence) == 0 {
			want[key+" "+e.Start.Date+e.Start.DateTime]++
		}
	}
	for key, e := range reports {
		if len(e.Recurrence) == 0 {
			continue
		}
		series++
		var id []string
		if err := json.Unmarshal([]byte(key), &id); err != nil {
			t.Fatal(err)
		}
		first, layout := e.Start.Date, time.DateOnly
		where := time.UTC
		if first == "" {
			first, layout = e.Start.DateTime, time.RFC3339
			if where, err = time.LoadLocation(e.Start.TimeZone); err != nil {
				t.Fatal(err)
			}
		}
		at, err := time.ParseInLocation(layout, first, where)
		if err != nil {
			t.Fatal(err)
		}
		for week := range 20 {
			text := at.In(where).AddDate(0, 0, 7*week).Format(layout)
			if left := week == 1; !left && !changed[id[0]+e.ID+text] {
				want[key+" "+text]++
			}
		}
	}
	if series < 6 || len(changed) < 8 {
		t.Fatalf("%d series and %d changed occurrences are too few to tell", series, len(changed))
	}
	if !maps.Equal(got, want) {
		all := maps.Clone(got)
		maps.Copy(all, want)
		for _, line := range slices.Sorted(maps.Keys(all)) {
			if got[line] != want[line] {
				t.Errorf("%s: told %d times, want %d", line, got[line], want[line])
			}
		}
	}
}
