package browse

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

// dayStream is a stream of a kind with roles that are called like their fields.
func dayStream(kind string, roles ...string) *things.Stream {
	s := &things.Stream{Stream: api.Stream{ConnectionID: "c", ConnectionName: "C", Name: kind, Label: kind,
		Display: api.Display{Kind: kind, Roles: map[string]string{}}}}
	for _, r := range roles {
		s.Display.Roles[r] = r
	}
	return s
}

// happenedIn is what happened in a stream, from records as JSON. Count is of all records, read or not.
func happenedIn(t *testing.T, s *things.Stream, count int64, bodies ...string) happening {
	t.Helper()
	h := happening{in: s, count: count}
	at := time.Date(2026, 7, 12, 20, 0, 0, 0, time.UTC)
	for i, body := range bodies {
		if !json.Valid([]byte(body)) {
			t.Fatalf("%s is no JSON", body)
		}
		when := at.Add(-time.Duration(i) * time.Hour)
		h.things = append(h.things, s.Thing(api.Record{ConnectionID: "c", Stream: s.Name, Key: body, At: &when,
			Data: json.RawMessage(body)}))
	}
	return h
}

// The sentence of a day has nothing that was not read: what was only counted is not added up, and of several
// measurements none is chosen.
func TestDaySentence(t *testing.T) {
	t.Parallel()
	paid := dayStream("transaction", "title", "amount", "currency", "time")
	measured := dayStream("measurement", "value", "unit", "series", "time")
	been := dayStream("place", "title", "latitude", "longitude", "time")
	steps := `{"series":"Steps","unit":"steps","value":15774}`
	for _, c := range []struct {
		name     string
		happened []happening
		want     string
	}{
		{"nothing", nil, ""},
		{"payments", []happening{happenedIn(t, paid, 3, `{"amount":-30.15,"currency":"EUR"}`,
			`{"amount":-3,"currency":"EUR"}`, `{"amount":12.5,"currency":"SEK"}`)}, "€33.15 spent and 12.50 SEK received."},
		{"payments that were not all read", []happening{happenedIn(t, paid, 90, `{"amount":-30.15,"currency":"EUR"}`)}, ""},
		{"a measurement", []happening{happenedIn(t, measured, 2, steps, `{"series":"Pulse","unit":"bpm","value":56}`)},
			"15,774 steps."},
		{"two of the same measurement", []happening{happenedIn(t, measured, 2, steps, steps)}, ""},
		{"places", []happening{happenedIn(t, been, 4, `{"title":"Mill"}`, `{"title":"Quay"}`, `{"title":"Mill"}`,
			`{"title":""}`)}, "At Mill and Quay."},
	} {
		p := &browsePages{}
		f := p.names(t.Context(), &things.Streams{}).dayFactsOf(c.happened, choice{day: "2026-07-12"}, time.UTC)
		if got := f.sentence(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A name that a camera made is not shown as a title.
func TestPictureName(t *testing.T) {
	t.Parallel()
	s := dayStream("file", "title")
	for name, want := range map[string]string{
		"20260712-1855.png": "Photo", "IMG_1234.JPG": "Photo", "DSC00012.jpg": "Photo", "boatyard.jpg": "Boatyard",
		"old_lighthouse.jpeg": "Old lighthouse", "p1.png": "Photo", "": "File without a name",
		`C:\pics\The mill.png`: "The mill",
	} {
		body, err := json.Marshal(map[string]string{"title": name})
		if err != nil {
			t.Fatal(err)
		}
		one := s.Thing(api.Record{Data: body})
		if got := one.PictureName(); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
}

// A day is whole only if every source that may hold some of it was read to its end.
func TestDayIsCoveredWhole(t *testing.T) {
	t.Parallel()
	s := api.KeptSource{Covered: []api.Covered{{From: "2026-01-01", To: "2026-02-01"},
		{From: "2026-03-01", To: "2026-03-05", Whole: true}}}
	for day, want := range map[string]bool{"2026-01-10": false, "2026-02-28": false, "2026-03-01": true,
		"2026-03-05": true, "2026-03-06": false} {
		if got := coversWhole(&api.Kept{Today: "2026-03-09"}, &s, day); got != want {
			t.Errorf("%s: %t", day, got)
		}
	}
}

// A source that was read until today and still lacks something may lack it of any day.
func TestIncompleteSourceCoversNoDay(t *testing.T) {
	t.Parallel()
	s := api.KeptSource{Covered: []api.Covered{{From: "2026-01-01", To: "2026-03-09", Whole: true}}}
	k := &api.Kept{Today: "2026-03-09"}
	if coversWhole(k, &s, "2026-02-01") {
		t.Error("it covers a day")
	}
	if s.Complete = true; !coversWhole(k, &s, "2026-02-01") {
		t.Error("a complete source does not cover the day")
	}
}

// yearbook is an owner with records of some days.
type yearbook struct {
	shelf
	days map[string]int64
}

func (d *yearbook) Days(_ context.Context, q api.DayQuery) ([]api.DayCount, error) {
	if n := d.days[q.From]; n > 0 {
		return []api.DayCount{{Day: q.From, ConnectionID: "c", Stream: "document", Records: n}}, nil
	}
	return nil, nil
}

// A date in an earlier year has something, had nothing, or was not collected: never one for another.
func TestThreeStatesOfADate(t *testing.T) {
	t.Parallel()
	s := dayStream("document", "title", "time")
	s.Records = 1
	all := things.NewStreams([]api.Stream{s.Stream})
	p := &browsePages{Config: Config{Owner: &yearbook{days: map[string]int64{"2024-07-12": 3}}}}
	kept := api.Kept{FirstDay: "2022-01-01", Sources: []api.KeptSource{{Covered: []api.Covered{
		{From: "2023-01-01", To: "2023-12-31", Whole: true}}}}}
	past, err := p.pastYears(t.Context(), all, &kept, time.Date(2026, 7, 12, 0, 0, 0, 0, time.UTC), pastShown)
	if err != nil {
		t.Fatal(err)
	}
	want := "Nothing happened in 2023, as far as your sources know. Not collected: 2025 and 2022."
	if len(past.Days) != 1 || past.Days[0].Year != "2024" || past.Days[0].Sentence != "3 notes." || past.words() != want {
		t.Errorf("%+v: %q", past.Days, past.words())
	}
}
