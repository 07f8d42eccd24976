package records

import (
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func TestHeading(t *testing.T) {
	t.Parallel()
	for want, k := range map[string]api.Kept{
		"3 records":       {Records: 3, Today: "2026-03-04"},
		"1 day, 1 record": {Records: 1, FirstDay: "2026-03-04", LastDay: "2026-03-04", Today: "2026-03-04"},
		"2 months, 12,000 records": {Records: 12_000, FirstDay: "2026-01-01", LastDay: "2026-03-01",
			Today: "2026-03-04"},
		"2 years, 999,999 records": {Records: 999_999, FirstDay: "2024-03-03", LastDay: "2026-03-01",
			Today: "2026-03-04"},
		"16 years, 5 million records": {Records: 5_049_000, FirstDay: "2009-12-30", LastDay: "2026-03-01",
			Today: "2026-03-04"},
		"1 day, 1.9 million records": {Records: 1_999_999, FirstDay: "2030-01-01", LastDay: "2031-01-01",
			Today: "2026-03-04"},
		"11 months, 23.4 million records": {Records: 23_456_789, FirstDay: "2025-04-01", LastDay: "2026-03-01",
			Today: "2026-03-04"},
	} {
		page := newOverview(k)
		if got := page.heading(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Dates from anywhere in the years that are counted draw a page, and what is not whole is not drawn as here.
func TestLifeOfOddDates(t *testing.T) {
	t.Parallel()
	for _, days := range [][2]string{{"1900-01-01", "2199-12-31"}, {"2026-03-04", "2026-03-04"},
		{"2030-01-01", "2030-12-31"}, {"1900-01-01", "1900-01-01"}, {"2199-12-31", "2199-12-31"},
		{"1996-06-01", "2026-01-01"}} {
		k := api.Kept{Records: 2, FirstDay: days[0], LastDay: days[1], Today: "2026-03-04",
			Sources: []api.KeptSource{{Name: "Odd", Records: 2, FirstDay: days[0], LastDay: days[1],
				Months:  []api.KeptMonth{{Month: days[0][:7], Records: 1}, {Month: days[1][:7], Records: 1}},
				Covered: []api.Covered{{From: days[0], To: days[1]}}}}}
		page := newOverview(k)
		rows := page.Life.Rows
		if len(page.Life.Years) > mostLifeYears || len(page.Life.Marks) > 7 || rows[0].Missing == "" || rows[0].Here != "" {
			t.Errorf("%v: %v, %+v", days, page.Life.Marks, rows[0])
		}
	}
}

// A year is complete only where a run read it to its end: things that no run has accounted for may be a part.
func TestLifeOfAYear(t *testing.T) {
	t.Parallel()
	k := api.Kept{Records: 9, FirstDay: "2023-02-01", LastDay: "2026-03-01", Today: "2026-03-04",
		Sources: []api.KeptSource{{Name: "Ferry", Records: 9, FirstDay: "2023-02-01", LastDay: "2026-03-01",
			Months: []api.KeptMonth{{Month: "2023-02", Records: 2}, {Month: "2025-01", Records: 4},
				{Month: "2026-03", Records: 3}},
			Covered: []api.Covered{{From: "2025-01-01", To: "2025-12-31", Whole: true},
				{From: "2026-01-01", To: "2026-02-01"}}}}}
	row := newOverview(k).Life.Rows[0]
	var got []string
	for _, y := range row.Years {
		got = append(got, y.words())
	}
	want := []string{"2, not known whether all", "–", "4, complete", "3, in part"}
	if !slices.Equal(got, want) {
		t.Errorf("years are %q, want %q", got, want)
	}
	if strings.Count(row.Here, "M") != 1 || strings.Count(row.Part, "M") != 3 || strings.Count(row.Missing, "M") != 3 {
		t.Errorf("here %q, part %q, missing %q", row.Here, row.Part, row.Missing)
	}
}
