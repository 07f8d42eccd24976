package admin

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// keptOf returns totals for a source of that name and for two others. One has dates that are still
// being counted; the other holds no data.
func keptOf(name string) api.Kept {
	two, hundred, asOf := int64(2), int64(100), now.Add(-time.Hour)
	k := api.Kept{ObservedAt: now, Records: 1_415_187, Bytes: 1 << 30, Undated: 7, FirstDay: "2009-03-02",
		LastDay: now.UTC().Format(time.DateOnly), Today: now.UTC().Format(time.DateOnly),
		Sources: []api.KeptSource{
			{ConnectionID: "cin_kelp_1", Name: name, Records: 1_415_087, Bytes: 1 << 30, Undated: 7, FirstDay: "2009-03-02",
				LastDay: now.UTC().Format(time.DateOnly), Today: 12, AsOf: &asOf, Complete: true, Say: "Complete",
				Covered: []api.Covered{{From: "2009-03-02", To: now.UTC().Format(time.DateOnly), Whole: true}},
				Months:  []api.KeptMonth{{Month: "2009-03", Records: 40}, {Month: now.UTC().Format("2006-01"), Records: 300}},
				Streams: []api.KeptStream{{Name: "letters"}}},
			{ConnectionID: "cin_tide_1", Name: "Tide log", Records: 98, Found: &hundred, Missing: &two, FirstDay: "2011-05-01",
				LastDay: "2012-02-02", Say: "2 of 100 missing, fetched by later runs",
				Covered: []api.Covered{{From: "2011-05-01", To: "2012-02-02", Why: "Some items are missing."}},
				Months:  []api.KeptMonth{{Month: "2011-05", Records: 98}}},
			{ConnectionID: "cin_new", Name: "New one", Records: 2, Counting: &api.Counting{Done: 1, Of: 4},
				Say: "Not measured yet"},
			{ConnectionID: "cin_none", Name: "Nothing", Say: "Not checked yet"},
		}}
	k.Counting = &api.Counting{Done: 1, Of: 4}
	monday := now.UTC().AddDate(0, 0, -(int(now.UTC().Weekday())+6)%7).AddDate(0, 0, -7*52)
	for at := monday; !at.After(now.UTC()); at = at.AddDate(0, 0, 1) {
		i := int64(at.Sub(monday) / (24 * time.Hour))
		k.Days = append(k.Days, api.KeptDay{Day: at.Format(time.DateOnly), Records: max(0, i%50-10), Collected: i > 20})
	}
	return k
}

// The records page opens with totals, how far back they go, counts per day, and what is missing of
// each source. An empty day and an uncollected day look different. Uncounted data is reported, not
// drawn.
func TestOverview(t *testing.T) {
	t.Parallel()
	o := mara()
	o.kept = keptOf("Kelp <b>")
	p := get(t, world(t, o), "/complete")
	if p.Code != http.StatusOK {
		t.Fatalf("answered %d", p.Code)
	}
	p.says(t, "17 years, 1.4 million records", "1 of 4 sources has everything that its provider offers.",
		"2 things are still to come.", "Reaches back to", "Mar 2009",
		"Still counting New one: 25 % done.", "12 so far today.", "7 records have no day of their own",
		"2 of 100 missing, fetched by later runs", "Not checked yet", "Fill the gaps",
		"Still counting, 25 % done", "Nothing is kept yet", "Tide log until 2 February", "The same in numbers")
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
	p.by(t, "href", "/day/"+o.kept.Today)

	o.kept.Counting, o.kept.Sources = nil, o.kept.Sources[:1]
	p = get(t, world(t, o), "/complete")
	p.says(t, "Your source has everything that its provider offers.", "All sources")
	if strings.Contains(p.text(), "Still counting") {
		t.Error("counting goes on")
	}
	o.kept.FirstDay, o.kept.LastDay, o.kept.Records = "", "", 1
	o.kept.Sources[0].FirstDay, o.kept.Sources[0].LastDay, o.kept.Sources[0].Records, o.kept.Sources[0].Months,
		o.kept.Sources[0].Covered = "", "", 1, nil, nil
	get(t, world(t, o), "/complete").says(t, "1 record", "None of its things has a date")
}

func TestOverviewFails(t *testing.T) {
	t.Parallel()
	o := mara()
	o.fails = map[string]error{"Kept": errors.New("disk I/O error of table secrets")}
	p := get(t, world(t, o), "/complete")
	if p.Code != http.StatusInternalServerError || strings.Contains(p.Body.String(), "secrets") {
		t.Errorf("an inner error answered %d: %s", p.Code, p.text())
	}
	p.says(t, "Records and search are not affected")
}
