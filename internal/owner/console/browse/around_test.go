package browse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

// diary is an owner with streams of records that hold only a time.
type diary struct {
	api.Owner
	streams []api.Stream
	times   map[string][]time.Time // by stream
	reads   atomic.Int64           // reads of records, beyond what counts answer
}

func (d *diary) Days(_ context.Context, q api.DayQuery) (out []api.DayCount, err error) {
	for _, s := range d.streams {
		counts := map[string]int64{}
		older, newer := "", ""
		for _, at := range d.times[s.Name] {
			day := at.UTC().Format(time.DateOnly)
			switch {
			case day < q.From:
				older = max(older, day)
			case day > q.To && (newer == "" || day < newer):
				newer = day
			}
			if s.Dated || at.Second()%2 == 0 { // of others not all are counted
				counts[day]++
			}
		}
		for day, n := range counts {
			if day >= q.From && day <= q.To || q.Nearest && (day == older || day == newer) {
				out = append(out, api.DayCount{Day: day, ConnectionID: "c", Stream: s.Name, Records: n})
			}
		}
	}
	return out, nil
}

func (d *diary) Records(_ context.Context, q api.RecordQuery) (page api.RecordPage, err error) {
	d.reads.Add(1)
	all := slices.Clone(d.times[q.Stream])
	slices.SortFunc(all, time.Time.Compare)
	if !q.Oldest {
		slices.Reverse(all)
	}
	var total int64
	for i, at := range all {
		if !q.Since.IsZero() && at.Before(q.Since) || !q.Until.IsZero() && !at.Before(q.Until) {
			continue
		}
		if total++; len(page.Records) < q.Limit {
			page.Records = append(page.Records, api.Record{ConnectionID: "c", Stream: q.Stream, Key: fmt.Sprint(i), At: &at})
		} else {
			page.Next = "more"
		}
	}
	if q.Total {
		page.Total = &total
	}
	return page, nil
}

// In every time zone, a day shows the records that happened on it and links to the nearest days
// with records. The counts are per UTC day.
func TestDaysWhereOneLives(t *testing.T) {
	t.Parallel()
	var zones []*time.Location
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Pacific/Niue",
		"Asia/Kathmandu"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zone)
	}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		// The clocks of two of the zones change within these days.
		middle := rapid.SampledFrom([]time.Time{time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC),
			time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}).Draw(t, "middle")
		d := &diary{times: map[string][]time.Time{}}
		for i := range rapid.IntRange(1, 4).Draw(t, "streams") {
			s := api.Stream{ConnectionID: "c", Name: fmt.Sprint("s", i), Records: 1, Dated: rapid.Bool().Draw(t, "dated")}
			s.Display = api.Display{Kind: rapid.SampledFrom([]string{"document", "file"}).Draw(t, "kind"),
				Roles: map[string]string{"time": "at"}, Days: rapid.Bool().Draw(t, "days")}
			for range rapid.IntRange(0, 6).Draw(t, "records") {
				at := middle.Add(time.Duration(rapid.IntRange(-6*24*3600, 6*24*3600).Draw(t, "at")) * time.Second)
				if rapid.IntRange(0, 9).Draw(t, "far") == 0 {
					at = at.AddDate(-20, 0, 0)
				}
				if s.Display.Days {
					at = at.Truncate(24 * time.Hour)
				}
				d.times[s.Name] = append(d.times[s.Name],
					slices.Repeat([]time.Time{at}, rapid.SampledFrom([]int{1, 1, 2, burst, burst + 4}).Draw(t, "at once"))...)
			}
			d.streams = append(d.streams, s)
		}
		on := middle.AddDate(0, 0, rapid.IntRange(-4, 4).Draw(t, "day"))
		page := &timelinePage{Day: time.Date(on.Year(), on.Month(), on.Day(), 0, 0, 0, 0, zone),
			choice: choice{kind: rapid.SampledFrom([]string{"", "documents"}).Draw(t, "shown")}}
		var count int64
		var older, newer string
		kinds := map[string]int64{}
		items := map[string]int{}
		for _, s := range d.streams {
			shown := page.kind == "" || s.Display.Kind == "document"
			var here int64
			for _, at := range d.times[s.Name] {
				day := at.In(zone).Format(time.DateOnly)
				if s.Display.Days {
					day = at.Format(time.DateOnly)
				}
				today := on.Format(time.DateOnly)
				if day == today {
					here++
				}
				switch {
				case !shown:
				case day < today:
					older = max(older, day)
				case day == today:
					count++
				case newer == "" || day < newer:
					newer = day
				}
			}
			if here > 0 {
				kinds[map[string]string{"document": "Notes", "file": "Photos"}[s.Display.Kind]] += here
			}
			if shown && here > burst {
				several := map[string]string{"document": "notes: ", "file": "photos and files"}[s.Display.Kind]
				items[fmt.Sprintf("%d %s", here, several)]++
			} else if shown {
				items[""] += int(here)
			}
		}
		p := &browsePages{Config: Config{Owner: d}}
		all := things.NewStreams(slices.Clone(d.streams))
		days, err := p.calendar(t.Context(), page, all)
		if err == nil {
			err = p.fillDay(t.Context(), days)
		}
		if err == nil {
			err = p.around(t.Context(), days)
		}
		if err != nil {
			t.Fatal(err)
		}
		say := func(at time.Time) string {
			if at.IsZero() {
				return ""
			}
			return at.Format(time.DateOnly)
		}
		if got, want := fmt.Sprint(page.Count, " ", say(page.OlderDay), " ", say(page.NewerDay)),
			fmt.Sprint(count, " ", older, " ", newer); got != want {
			t.Fatalf("%s has %q, want %q", page.Day, got, want)
		}
		reports, words := map[string]int64{}, map[string]int{"": 0}
		for _, f := range page.Kinds[1:] {
			reports[f.Label] = f.Count
		}
		for _, it := range page.Items {
			words[it.Title]++
		}
		items[""] += 0
		if !maps.Equal(reports, kinds) || !maps.Equal(words, items) {
			t.Fatalf("%s has %v of each kind, want %v, and shows %v, want %v", page.Day, reports, kinds, words, items)
		}
		// If page days equal UTC days for all streams, only records of the day itself are read.
		exact := !slices.ContainsFunc(d.streams, func(s api.Stream) bool {
			return !s.Dated || !s.Display.Days &&
				zone != zones[0]
		})
		if exact && d.reads.Load() > int64(len(d.streams)) {
			t.Fatalf("%d reads of %d streams", d.reads.Load(), len(d.streams))
		}
	})
}
