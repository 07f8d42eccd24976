package records

import (
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

// Dates from anywhere in the years that are counted draw a page, and no more bars than fit.
func TestLanesOfOddDates(t *testing.T) {
	t.Parallel()
	for _, days := range [][2]string{{"1900-01-01", "2199-12-31"}, {"2026-03-04", "2026-03-04"},
		{"2030-01-01", "2030-12-31"}, {"1900-01-01", "1900-01-01"}, {"2199-12-31", "2199-12-31"},
		{"1996-06-01", "2026-01-01"}} {
		k := api.Kept{Records: 2, FirstDay: days[0], LastDay: days[1], Today: "2026-03-04",
			Sources: []api.KeptSource{{Name: "Odd", Records: 2, FirstDay: days[0], LastDay: days[1],
				Months:  []api.KeptMonth{{Month: days[0][:7], Records: 1}, {Month: days[1][:7], Records: 1}},
				Covered: []api.Covered{{From: days[0], To: days[1]}}}}}
		page := newOverview(k)
		if page.Units < 1 || page.Units > 310 || page.Lanes[0].Bars == "" || page.Lanes[0].Cover == "" {
			t.Errorf("%v: %d units, %+v", days, page.Units, page.Lanes[0])
		}
	}
}
