package manage

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// keptOf is what an owner keeps of a source of that name and of two others: one whose dates are
// still counted, and one of which nothing is here.
func keptOf(name string) api.Kept {
	two, hundred, asOf := int64(2), int64(100), now.Add(-time.Hour)
	k := api.Kept{ObservedAt: now, Records: 1_415_187, Bytes: 1 << 30, Undated: 7, FirstDay: "2009-03-02", LastDay: now.UTC().Format(time.DateOnly), Today: now.UTC().Format(time.DateOnly),
		Sources: []api.KeptSource{
			{ConnectionID: "cin_kelp_1", Name: name, Records: 1_415_087, Bytes: 1 << 30, Undated: 7, FirstDay: "2009-03-02", LastDay: now.UTC().Format(time.DateOnly), Today: 12, AsOf: &asOf, Complete: true, Say: "Complete",
				Covered: []api.Covered{{From: "2009-03-02", To: now.UTC().Format(time.DateOnly), Whole: true}}, Months: []api.KeptMonth{{Month: "2009-03", Records: 40}, {Month: now.UTC().Format("2006-01"), Records: 300}},
				Streams: []api.KeptStream{{Name: "letters"}}},
			{ConnectionID: "cin_tide_1", Name: "Tide log", Records: 98, Found: &hundred, Missing: &two, FirstDay: "2011-05-01", LastDay: "2012-02-02", Say: "2 of 100 missing, fetched by later runs",
				Covered: []api.Covered{{From: "2011-05-01", To: "2012-02-02", Why: "Some items are missing."}}, Months: []api.KeptMonth{{Month: "2011-05", Records: 98}}},
			{ConnectionID: "cin_new", Name: "New one", Records: 2, Counting: &api.Counting{Done: 1, Of: 4}, Say: "Not measured yet"},
			{ConnectionID: "cin_none", Name: "Nothing", Say: "Not looked yet"},
		}}
	k.Counting = &api.Counting{Done: 1, Of: 4}
	monday := now.UTC().AddDate(0, 0, -(int(now.UTC().Weekday())+6)%7).AddDate(0, 0, -7*52)
	for at := monday; !at.After(now.UTC()); at = at.AddDate(0, 0, 1) {
		i := int64(at.Sub(monday) / (24 * time.Hour))
		k.Days = append(k.Days, api.KeptDay{Day: at.Format(time.DateOnly), Records: max(0, i%50-10), Collected: i > 20})
	}
	return k
}

// The page of records opens on what is kept, how far back, day by day, and what is missing of each
// source. A day with nothing and a day that was not collected are two pictures, and what is not
// counted yet is said and not drawn.
func TestOverview(t *testing.T) {
	t.Parallel()
	o := mara()
	o.kept = keptOf("Kelp <b>")
	p := get(t, world(t, o), "/records")
	if p.Code != http.StatusOK {
		t.Fatalf("answered %d", p.Code)
	}
	p.says(t, "17 years, 1.4 million records", "1,415,187 records from 3 sources, 2 March 2009 to today. 1 source is complete; for the others it says below what is missing.",
		"Still counting New one: 25 % done.", "12 so far today.", "7 records have no day of their own", "2 of 100 missing, fetched by later runs", "Not looked yet",
		"Still counting, 25 % done", "Nothing is kept yet", "Tide log until 2 February", "The same in numbers", "to Feb 2012", "to today")
	body := p.Body.String()
	classes := map[string]int{}
	for _, d := range o.kept.Days {
		switch {
		case d.Records > 0:
			classes["records"]++
		case d.Collected:
			classes["h0"]++
		default:
			classes["hx"]++
		}
	}
	for _, class := range []string{"h0", "hx"} { // one more of each in the key to the picture
		if drawn := strings.Count(body, `<rect class="`+class+`"`); drawn != classes[class]+1 {
			t.Errorf("%d cells of %s, want %d", drawn, class, classes[class]+1)
		}
	}
	if strings.Contains(body, "Kelp <b>") {
		t.Error("a name is markup")
	}
	if strings.Contains(body, "1.0 GiB of data") {
		t.Error("a size is told while it is still counted")
	}
	p.by(t, "action", "/records")
	p.by(t, "href", "/records/streams")
	p.by(t, "href", "/records/timeline?day="+o.kept.Today)

	o.kept.Counting, o.kept.Sources = nil, o.kept.Sources[:1]
	p = get(t, world(t, o), "/records")
	p.says(t, "1,415,187 records, 1.0 GiB of data, from 1 source, 2 March 2009 to today. It is complete.", "All sources")
	if strings.Contains(p.text(), "Still counting") {
		t.Error("counting goes on")
	}
	o.kept.FirstDay, o.kept.LastDay, o.kept.Records = "", "", 1
	o.kept.Sources[0].FirstDay, o.kept.Sources[0].LastDay, o.kept.Sources[0].Records, o.kept.Sources[0].Months, o.kept.Sources[0].Covered = "", "", 1, nil, nil
	get(t, world(t, o), "/records").says(t, "1 record", "None of its records has a day")
}

func TestOverviewFails(t *testing.T) {
	t.Parallel()
	o := mara()
	o.fails = map[string]error{"Kept": errors.New("disk I/O error of table secrets")}
	p := get(t, world(t, o), "/records")
	if p.Code != http.StatusInternalServerError || strings.Contains(p.Body.String(), "secrets") {
		t.Errorf("an inner error answered %d: %s", p.Code, p.text())
	}
	p.says(t, "Records and search are not affected")
	p.by(t, "action", "/records")
	p.by(t, "href", "/records/streams")
}

func TestHeading(t *testing.T) {
	t.Parallel()
	for want, k := range map[string]api.Kept{
		"3 records":                       {Records: 3, Today: "2026-03-04"},
		"1 day, 1 record":                 {Records: 1, FirstDay: "2026-03-04", LastDay: "2026-03-04", Today: "2026-03-04"},
		"2 months, 12,000 records":        {Records: 12_000, FirstDay: "2026-01-01", LastDay: "2026-03-01", Today: "2026-03-04"},
		"2 years, 999,999 records":        {Records: 999_999, FirstDay: "2024-03-03", LastDay: "2026-03-01", Today: "2026-03-04"},
		"16 years, 5 million records":     {Records: 5_049_000, FirstDay: "2009-12-30", LastDay: "2026-03-01", Today: "2026-03-04"},
		"1 day, 1.9 million records":      {Records: 1_999_999, FirstDay: "2030-01-01", LastDay: "2031-01-01", Today: "2026-03-04"},
		"11 months, 23.4 million records": {Records: 23_456_789, FirstDay: "2025-04-01", LastDay: "2026-03-01", Today: "2026-03-04"},
	} {
		page := newOverview(k)
		if got := page.heading(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Dates from anywhere in the years that are counted draw a page, and no more bars than fit.
func TestLanesOfOddDates(t *testing.T) {
	t.Parallel()
	for _, days := range [][2]string{{"1900-01-01", "2199-12-31"}, {"2026-03-04", "2026-03-04"}, {"2030-01-01", "2030-12-31"}, {"1900-01-01", "1900-01-01"}, {"2199-12-31", "2199-12-31"}, {"1996-06-01", "2026-01-01"}} {
		k := api.Kept{Records: 2, FirstDay: days[0], LastDay: days[1], Today: "2026-03-04", Sources: []api.KeptSource{{Name: "Odd", Records: 2, FirstDay: days[0], LastDay: days[1],
			Months: []api.KeptMonth{{Month: days[0][:7], Records: 1}, {Month: days[1][:7], Records: 1}}, Covered: []api.Covered{{From: days[0], To: days[1]}}}}}
		page := newOverview(k)
		if page.Units < 1 || page.Units > 310 || page.Lanes[0].Bars == "" || page.Lanes[0].Cover == "" {
			t.Errorf("%v: %d units, %+v", days, page.Units, page.Lanes[0])
		}
	}
}
