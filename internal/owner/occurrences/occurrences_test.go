package occurrences

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	where, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return where
}

// read makes events of records.
func read(t testing.TB, records ...string) (events []CalendarEvent) {
	t.Helper()
	for i, text := range records {
		e, ok := ReadEvent(fmt.Sprint("r", i), []byte(text))
		if !ok {
			t.Fatalf("no event: %s", text)
		}
		events = append(events, e)
	}
	return events
}

// told returns the occurrences between two days, one line each, followed by the series that were not computed.
func told(t testing.TB, from, until string, records ...string) []string {
	t.Helper()
	where := zone(t, "America/New_York")
	r := Range{Zone: where}
	for text, at := range map[string]*time.Time{from: &r.From, until: &r.Until} {
		layout := time.DateOnly
		if len(text) > len(layout) {
			layout = "2006-01-02 15:04"
		}
		var err error
		if *at, err = time.ParseInLocation(layout, text, where); err != nil {
			t.Fatal(err)
		}
	}
	got := Expand(read(t, records...), r, 100)
	lines := []string{}
	for _, o := range got.Occurrences {
		line := o.Start + " " + o.Key
		if o.Computed {
			line += " computed"
		}
		lines = append(lines, line)
	}
	for _, s := range got.NotComputed {
		lines = append(lines, s.Key+": "+s.Reason)
	}
	return lines
}

func TestExpand(t *testing.T) {
	t.Parallel()
	weekly := `{"id":"s","uid":"u","calendar_id":"c","summary":"Stand-up","start":"2026-03-19T10:00:00+01:00",` +
		`"end":"2026-03-19T11:00:00+01:00","time_kind":"zoned","time_zone":"Europe/Madrid","rrule":"FREQ=WEEKLY;BYDAY=TH"`
	for name, c := range map[string]struct {
		from, until string
		records     []string
		want        []string
	}{
		"the clock on the wall stays when the clocks change": {"2026-03-18", "2026-04-04", []string{weekly + `}`},
			[]string{"2026-03-19T10:00:00+01:00 r0 computed", "2026-03-26T10:00:00+01:00 r0 computed",
				"2026-04-02T10:00:00+02:00 r0 computed"}},
		"exceptions": {"2026-03-18", "2026-04-04",
			[]string{weekly + `,"exdates":["TZID=Europe/Madrid:20260326T100000","20260402T080000Z"]}`},
			[]string{"2026-03-19T10:00:00+01:00 r0 computed"}},
		"an exception in another zone": {"2026-03-25", "2026-03-28",
			[]string{weekly + `,"exdates":["TZID=America/New_York:20260326T050000"]}`}, []string{}},
		"an exception that is a day": {"2026-03-25", "2026-03-28", []string{weekly + `,"exdates":["20260326"]}`},
			[]string{}},
		"further dates, once each": {"2026-03-25", "2026-03-30",
			[]string{weekly + `,"rdates":["TZID=Europe/Madrid:20260327T120000,20260326T100000","20260328T090000Z/PT2H"]}`},
			[]string{"2026-03-26T10:00:00+01:00 r0 computed", "2026-03-27T12:00:00+01:00 r0 computed",
				"2026-03-28T10:00:00+01:00 r0 computed"}},
		"an occurrence that was moved, and one that does not take place": {"2026-03-18", "2026-04-04", []string{weekly + `}`,
			`{"id":"x","uid":"u","calendar_id":"c","recurrence_id":"2026-03-26T09:00:00Z","start":"2026-03-27T10:00:00+01:00"}`,
			`{"id":"y","uid":"u","calendar_id":"c","recurrence_id":"2026-04-02T10:00:00+02:00",` +
				`"start":"2026-04-02T10:00:00+02:00","status":"cancelled"}`},
			[]string{"2026-03-19T10:00:00+01:00 r0 computed", "2026-03-27T10:00:00+01:00 r1"}},
		"one that was moved out of the span": {"2026-03-25", "2026-03-28", []string{weekly + `}`,
			`{"id":"x","uid":"u","calendar_id":"c","recurrence_id":"2026-03-26T10:00:00+01:00",` +
				`"start":"2026-05-01T10:00:00+02:00"}`}, []string{}},
		"the same of another calendar is another": {"2026-03-25", "2026-03-28", []string{weekly + `}`,
			`{"id":"x","uid":"u","calendar_id":"d","recurrence_id":"2026-03-26T10:00:00+01:00",` +
				`"start":"2026-05-01T10:00:00+02:00"}`},
			[]string{"2026-03-26T10:00:00+01:00 r0 computed"}},
		"a series that is named": {"2026-03-25", "2026-03-28", []string{weekly + `}`,
			`{"id":"s_1","calendar_id":"c","recurring_event_id":"s","recurrence_id":"2026-03-26T10:00:00+01:00",` +
				`"start":"2026-03-26T10:00:00+01:00","status":"cancelled"}`}, []string{}},
		"an occurrence without its series": {"2026-03-25", "2026-03-28",
			[]string{`{"uid":"u","recurrence_id":"2026-03-26T10:00:00Z","start":"2026-03-26T12:00:00Z"}`},
			[]string{"2026-03-26T12:00:00Z r0"}},
		"until is an instant": {"2026-03-18", "2026-04-20",
			[]string{strings.Replace(weekly, "BYDAY=TH", "UNTIL=20260402T080000Z", 1) + `}`},
			[]string{"2026-03-19T10:00:00+01:00 r0 computed", "2026-03-26T10:00:00+01:00 r0 computed",
				"2026-04-02T10:00:00+02:00 r0 computed"}},
		"until is a day, all of it": {"2026-03-25", "2026-04-20",
			[]string{strings.Replace(weekly, "BYDAY=TH", "UNTIL=20260326", 1) + `}`},
			[]string{"2026-03-26T10:00:00+01:00 r0 computed"}},
		"count, from the first": {"2026-03-25", "2026-04-20", []string{strings.Replace(weekly, "BYDAY=TH", "COUNT=2", 1) +
			`}`}, []string{"2026-03-26T10:00:00+01:00 r0 computed"}},
		"days stay days": {"2026-02-27", "2026-03-03",
			[]string{`{"uid":"u","start":"2026-02-27","end":"2026-02-28","time_kind":"date","rrule":"FREQ=DAILY;COUNT=3",` +
				`"exdates":["20260228"]}`},
			[]string{"2026-02-27 r0 computed", "2026-03-01 r0 computed"}},
		"a day that was moved": {"2026-02-27", "2026-03-03",
			[]string{`{"uid":"u","start":"2026-02-27","time_kind":"date","rrule":"FREQ=DAILY;COUNT=3"}`,
				`{"uid":"u","recurrence_id":"2026-02-28","start":"2026-06-01"}`},
			[]string{"2026-02-27 r0 computed", "2026-03-01 r0 computed"}},
		"a day without an end lasts until its end": {"2026-02-27 12:00", "2026-02-28 12:00",
			[]string{`{"uid":"u","start":"2026-02-27"}`, `{"uid":"v","start":"2026-02-26","rrule":"FREQ=DAILY"}`},
			[]string{"2026-02-27 r0", "2026-02-27 r1 computed", "2026-02-28 r1 computed"}},
		"the 29th of February": {"2026-01-01", "2030-01-01",
			[]string{`{"uid":"u","start":"2024-02-29","rrule":"FREQ=YEARLY"}`}, []string{"2028-02-29 r0 computed"}},
		"a floating time is the reader's": {"2026-03-07", "2026-03-10",
			[]string{`{"uid":"u","start":"2026-03-07T09:00:00Z","time_kind":"floating","rrule":"FREQ=DAILY;COUNT=3"}`,
				`{"uid":"u","recurrence_id":"2026-03-08T09:00:00Z","start":"2026-03-08T11:00:00Z","time_kind":"floating"}`},
			[]string{"2026-03-07T09:00:00-05:00 r0 computed", "2026-03-08T11:00:00-04:00 r1",
				"2026-03-09T09:00:00-04:00 r0 computed"}},
		"dates alone": {"2026-03-07", "2026-03-20",
			[]string{`{"uid":"u","start":"2026-03-07","rdates":["20260309"]}`},
			[]string{"2026-03-07 r0 computed", "2026-03-09 r0 computed"}},
		"what began before the span and lasts": {"2026-03-20", "2026-03-21",
			[]string{`{"uid":"u","start":"2026-03-18","end":"2026-03-21"}`,
				`{"uid":"v","start":"2026-03-18","end":"2026-03-20"}`}, []string{"2026-03-18 r0"}},
		"cancelled": {"2026-03-18", "2026-03-21", []string{weekly + `,"status":"cancelled"}`},
			[]string{}},
		"two rules": {"2026-03-18", "2026-03-24",
			[]string{`{"uid":"u","start":"2026-03-19","rrule":"FREQ=WEEKLY;BYDAY=TH\nFREQ=WEEKLY;BYDAY=TH,MO"}`},
			[]string{"2026-03-19 r0 computed", "2026-03-23 r0 computed"}},
		"what cannot be computed is named": {"2026-03-18", "2026-03-24", []string{
			`{"uid":"a","start":"2026-03-19","rrule":"FREQ=SOMETIMES"}`,
			`{"uid":"b","start":"2026-03-19T00:00:00Z","rrule":"FREQ=HOURLY"}`,
			`{"uid":"c","start":"2026-03-19T00:00:00Z","time_zone":"Nowhere/At all","rrule":"FREQ=DAILY"}`,
			`{"uid":"d","start":"2026-03-19","rrule":"FREQ=DAILY","exrules":["FREQ=WEEKLY"]}`,
			`{"uid":"e","start":"2026-03-19","rrule":"FREQ=DAILY","exdates":["soon"]}`,
			`{"uid":"f","start":"2026-03-19","rrule":"FREQ=DAILY"}`,
			`{"uid":"f","recurrence_id":"2026-03-20","start":"2027-03-20","this_and_future":true}`,
			`{"uid":"g","start":"1700-03-19T00:00:00Z","rrule":"FREQ=DAILY"}`,
			`{"uid":"h","start":"2026-03-19","rrule":"FREQ=MONTHLY;INTERVAL=9223372036854775807"}`,
			`{"uid":"i","start":"2026-03-19","rrule":"FREQ=MONTHLY;BYDAY=10MO"}`},
			[]string{"r0: " + reasonRule, "r1: " + reasonOften, "r2: " + reasonZone, "r3: " + reasonMinus, "r4: " + reasonRule,
				"r5: " + reasonLater, "r7: " + reasonMany, "r8: " + reasonRule, "r9: " + reasonRule}},
		"a rule that never holds": {"2026-03-18", "2026-03-24",
			[]string{`{"uid":"a","start":"2026-03-19","rrule":"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"}`}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := told(t, c.from, c.until, c.records...); !slices.Equal(got, c.want) {
				t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// Expand returns the earliest occurrences up to the limit, and reports that it cut the list.
func TestCut(t *testing.T) {
	t.Parallel()
	r := Range{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
		Zone: time.UTC}
	got := Expand(read(t, `{"uid":"b","start":"2026-03-02","rrule":"FREQ=DAILY"}`, `{"uid":"a","start":"2026-03-01"}`), r,
		3)
	if len(got.Occurrences) != 3 || !got.Cut || got.Occurrences[0].Start != "2026-03-01" ||
		got.Occurrences[2].Start != "2026-03-03" {
		t.Errorf("%+v", got)
	}
}

// TestAgainstDays holds random rules against a count of the days, one by one, that knows nothing of how rules are
// computed.
func TestAgainstDays(t *testing.T) {
	t.Parallel()
	madrid := zone(t, "Europe/Madrid")
	days := []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		first := time.Date(2020+r.IntN(7), time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), 30, 0, 0, madrid)
		interval := 1 + r.IntN(4)
		freq := []string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}[r.IntN(4)]
		text := fmt.Sprintf("FREQ=%s;INTERVAL=%d", freq, interval)
		on := map[time.Weekday]bool{first.Weekday(): true}
		if freq == "WEEKLY" && r.IntN(2) == 0 {
			other := time.Weekday(r.IntN(7))
			on[other] = true
			text += ";BYDAY=" + days[first.Weekday()] + "," + days[other]
		}
		count, last := 1<<30, time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
		switch r.IntN(3) {
		case 0:
			count = 1 + r.IntN(30)
			text += fmt.Sprintf(";COUNT=%d", count)
		case 1:
			last = first.AddDate(0, 0, r.IntN(900))
			text += ";UNTIL=" + last.UTC().Format("20060102T150405Z")
		}
		holds := func(d time.Time) bool { // d is at the hour of the first, on a later day or the same
			apart := int(onWall(d).Truncate(24*time.Hour).Sub(onWall(first).Truncate(24*time.Hour)).Hours() / 24)
			switch freq {
			case "DAILY":
				return apart%interval == 0
			case "WEEKLY": // weeks begin on Monday
				monday := (int(first.Weekday()) + 6) % 7
				return on[d.Weekday()] && (apart+monday)/7%interval == 0
			case "MONTHLY":
				return d.Day() == first.Day() && (12*(d.Year()-first.Year())+int(d.Month())-int(first.Month()))%interval == 0
			}
			return d.Day() == first.Day() && d.Month() == first.Month() && (d.Year()-first.Year())%interval == 0
		}
		span := Range{From: first.AddDate(0, 0, r.IntN(400)-20), Zone: time.UTC}
		span.Until = span.From.AddDate(0, 0, r.IntN(700))
		want := []string{}
		for d, n := first, 0; d.Before(span.Until) && n < count &&
			!d.After(last); d = time.Date(d.Year(), d.Month(), d.Day()+1, first.Hour(), 30, 0, 0, madrid) {
			if !holds(d) {
				continue
			}
			if n++; !d.Before(span.From) {
				want = append(want, d.Format(time.RFC3339))
			}
		}
		data, err := json.Marshal(map[string]any{"start": first.Format(time.RFC3339), "time_kind": "zoned",
			"time_zone": "Europe/Madrid", "rrule": text})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, o := range Expand(read(t, string(data)), span, 10_000).Occurrences {
			got = append(got, o.Start)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %s from %s: told\n%v\nwant\n%v", seed, text, first, got, want)
		}
	}
}

// FuzzExpand checks that for any record, the occurrences are within the span, in order and within the limit. Every
// series is either expanded or listed as skipped.
func FuzzExpand(f *testing.F) {
	f.Add([]byte(`{"uid":"u","start":"2026-03-19T10:00:00+01:00","end":"2026-03-19T11:00:00+01:00",` +
		`"time_zone":"Europe/Madrid","rrule":"FREQ=WEEKLY;BYDAY=TH;WKST=SU;BYSETPOS=1","exdates":["20260326"],` +
		`"rdates":["TZID=Asia/Kolkata:20260327T120000"]}`))
	f.Add([]byte(`{"uid":"u","start":"2026-03-19","rrule":"FREQ=YEARLY;BYWEEKNO=53;BYYEARDAY=-1;BYMONTHDAY=31;` +
		`BYHOUR=1,2;BYMINUTE=0,59;COUNT=3;UNTIL=20300101"}`))
	f.Add([]byte(`{"uid":"u","start":"8999-12-31","rrule":"FREQ=MONTHLY;BYDAY=-5MO,+1SU","recurrence_id":"2026-03-19"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, ok := ReadEvent("r", data)
		if !ok {
			return
		}
		span := Range{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
			Zone: time.UTC}
		other := e
		other.RecurrenceID, other.Rule = e.Start, ""
		for _, events := range [][]CalendarEvent{{e}, {e, other}} {
			got := Expand(events, span, 500)
			if len(got.Occurrences) > 500 || got.Cut && len(got.Occurrences) < 500 {
				t.Errorf("%d occurrences, cut %v", len(got.Occurrences), got.Cut)
			}
			for i, o := range got.Occurrences {
				if !o.at.Before(span.Until) || i > 0 && o.at.Before(got.Occurrences[i-1].at) {
					t.Errorf("%+v", o)
				}
				if _, _, ok := parse(o.Start); !ok {
					t.Errorf("%q is no time", o.Start)
				}
			}
		}
	})
}
