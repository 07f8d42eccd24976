package figures

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

var today = time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)

// readOf is a stream of a kind with values like "2026-03-04 10 EUR".
func readOf(t *testing.T, kind, unitRole string, values ...string) []streamReading {
	t.Helper()
	s := &things.Stream{Stream: api.Stream{Name: "all", Label: "Weight",
		Display: api.Display{Kind: kind, Roles: map[string]string{"amount": "v", "value": "v", unitRole: "u"}}}}
	r := streamReading{of: s}
	for _, v := range values {
		parts := strings.Fields(v + " -")
		at, err := time.Parse(time.DateOnly, parts[0])
		if err != nil {
			t.Fatal(err)
		}
		at = at.Add(12 * time.Hour)
		r.things = append(r.things, s.Thing(api.Record{At: &at,
			Data: []byte(fmt.Sprintf(`{"v":%s,"u":%q}`, parts[1], strings.Trim(parts[2], "-")))}))
	}
	return []streamReading{r}
}

func noNames() *things.Names {
	return things.NewNames(context.Background(), nil, slog.New(slog.DiscardHandler), &things.Streams{})
}

// Measurements in several units are never averaged: each is a measure, the most frequent one first.
func TestMeasurementsAreNotMixed(t *testing.T) {
	t.Parallel()
	all := measuresOf(noNames(), readOf(t, "measurement", "unit", "2026-03-01 70 kg", "2026-03-02 72 kg",
		"2026-03-02 160 lb"), time.UTC)
	if len(all) != 2 || all[0].Unit != "kg" || len(all[0].days) != 2 || len(all[1].days) != 1 {
		t.Fatalf("%d measures: %+v", len(all), all)
	}
}

// A day that was not measured is missing: it is not zero, it does not lower the average, and it is drawn as a gap.
func TestMissingDaysAreMissing(t *testing.T) {
	t.Parallel()
	page := &healthPageData{Span: healthSpans[0], First: today.AddDate(0, 0, -6), Last: today}
	found := readOf(t, "measurement", "unit", "2026-03-04 50 bpm", "2026-03-06 60 bpm", "2026-03-06 80 bpm",
		"2026-02-28 70 bpm")
	page.fill(figureChoice{page: healthPage}, measuresOf(noNames(), found, time.UTC), found)
	if want := "60 bpm on average, 10 bpm less than in the week before."; page.Sentence != want {
		t.Errorf("%q, want %q", page.Sentence, want)
	}
	if want := "Measured on 2 days of 7. The others are left out."; page.Missing != want {
		t.Errorf("%q, want %q", page.Missing, want)
	}
	unknown := 0
	for _, b := range page.Buckets {
		if b.Unknown {
			unknown++
		}
	}
	if unknown != 5 || strings.Count(page.Chart.Gaps, "M") != 2 || strings.Count(page.Chart.Line, "M") != 2 {
		t.Errorf("%d gaps, drawn as %q beside %q", unknown, page.Chart.Gaps, page.Chart.Line)
	}
}

// Amounts are added up by day, and a day that is not over does not lower their average.
func TestAmountsOfTodayAreLeftOut(t *testing.T) {
	t.Parallel()
	page := &healthPageData{Span: healthSpans[0], First: today.AddDate(0, 0, -6), Last: today}
	found := readOf(t, "measurement", "unit", "2026-03-08 4000 steps", "2026-03-08 2000 steps", "2026-03-10 10 steps")
	page.fill(figureChoice{page: healthPage}, measuresOf(noNames(), found, time.UTC), found)
	if want := "6,000 steps a day on average."; page.Sentence != want {
		t.Errorf("%q, want %q", page.Sentence, want)
	}
}

// Of everything, a measure is shown from its first day on, also in short.
func TestEverythingBeginsWithTheFirstDay(t *testing.T) {
	t.Parallel()
	page := &healthPageData{Span: healthSpans[4], First: today.AddDate(0, 0, 1), Last: today}
	found := readOf(t, "measurement", "unit", "2025-03-08 50 bpm", "2026-03-08 60 bpm")
	page.fill(figureChoice{page: healthPage}, measuresOf(noNames(), found, time.UTC), found)
	if page.Cards[0].Value != "55" || len(page.Buckets) != 13 || page.Sentence != "55 bpm on average." {
		t.Errorf("%+v, %d months, %q", page.Cards[0], len(page.Buckets), page.Sentence)
	}
}

// Without a range before there is no comparison.
func TestNothingIsComparedWithNothing(t *testing.T) {
	t.Parallel()
	page := &healthPageData{Span: healthSpans[0], First: today.AddDate(0, 0, -6), Last: today}
	found := readOf(t, "measurement", "unit", "2026-03-08 50 bpm")
	page.fill(figureChoice{page: healthPage}, measuresOf(noNames(), found, time.UTC), found)
	if page.Sentence != "50 bpm on average." || page.Chart.Prev != "" || page.Chart.Band != "" {
		t.Errorf("%q, before %q, usual %q", page.Sentence, page.Chart.Prev, page.Chart.Band)
	}
}

// paidOf is the money page of a year that ends today.
func paidOf(t *testing.T, since, series string, values ...string) *moneyPageData {
	t.Helper()
	month := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	page := &moneyPageData{Span: moneySpans[1], Month: month}
	first, err := time.Parse(time.DateOnly, since)
	if err != nil {
		t.Fatal(err)
	}
	page.fill(figureChoice{page: moneyPage, series: series}, &ledger{found: readOf(t, "transaction", "currency",
		values...),
		names: noNames(), today: today, month: month, since: first})
	return page
}

// Amounts of several currencies are never added up: the most frequent one is shown unless another is asked for.
func TestCurrenciesAreNotMixed(t *testing.T) {
	t.Parallel()
	paid := []string{"2026-03-04 -10 EUR", "2026-03-05 -20 EUR", "2026-03-05 -500 USD", "2026-03-06 7 EUR"}
	for series, want := range map[string]string{"": "You spent €30.00 in March so far.",
		"USD": "You spent $500.00 in March so far.", "XXX": "You spent €30.00 in March so far."} {
		page := paidOf(t, "2026-02-10", series, paid...)
		if page.Lede != want || len(page.Currencies) != 2 {
			t.Errorf("%q: %q, %d currencies", series, page.Lede, len(page.Currencies))
		}
	}
	if page := paidOf(t, "2026-02-10", "", "2026-03-04 -10", "2026-03-05 -20"); page.Lede !=
		"You spent 30.00 in March so far." || len(page.Currencies) != 0 {
		t.Errorf("without a currency: %q, %+v", page.Lede, page.Currencies)
	}
}

// A month before the first payment was not collected; a month between two payments has nothing. A month is compared
// with the one before only as far as that one was collected, and by the same day.
func TestMonthsBeforeTheFirstPayment(t *testing.T) {
	t.Parallel()
	page := paidOf(t, "2025-12-15", "", "2026-03-04 -10 EUR", "2026-02-03 -4 EUR", "2026-02-27 -90 EUR",
		"2025-12-15 -30 EUR")
	var drawn []string
	for _, b := range page.Buckets[7:] {
		drawn = append(drawn, fmt.Sprint(b.Unknown, b.Value))
	}
	if got, want := strings.Join(drawn, ", "), "true0, false30, false0, false94, false10"; strings.ReplaceAll(got, " ",
		"") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("months are %s, want %s", got, want)
	}
	if want := "You spent €10.00 in March so far, €6.00 more than in February by this day."; page.Lede != want {
		t.Errorf("%q, want %q", page.Lede, want)
	}
	if want := "€47.00 a month on average"; page.Average != want { // January and February: the others are not whole
		t.Errorf("%q, want %q", page.Average, want)
	}
}

// The steps of an axis are round and hold every value.
func TestAxis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high float64
		zero      bool
	}{{0, 1, true}, {54, 61, false}, {0, 11999, true}, {-40, 12, true}, {1e-3, 2e-3, false}, {7, 7, false},
		{-1e9, 1e9, false}} {
		s := scaleOf(c.low, c.high, c.zero)
		if s.low > c.low || s.low+chartSteps*s.step < c.high || c.zero && s.low > 0 || s.step <= 0 {
			t.Errorf("%v to %v: from %v by %v", c.low, c.high, s.low, s.step)
		}
	}
}

// Every day of a range is in exactly one bucket.
func TestBucketsHoldEveryDayOnce(t *testing.T) {
	t.Parallel()
	for _, each := range []string{"day", "week", "month", "year"} {
		first := time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC)
		all := bucketsOf(first, today, each)
		for day := first; !day.After(today); day = day.AddDate(0, 0, 1) {
			n := 0
			for _, b := range all {
				if !day.Before(b.From) && day.Before(b.To) {
					n++
				}
			}
			if n != 1 {
				t.Fatalf("%s is in %d buckets by %s", day.Format(time.DateOnly), n, each)
			}
		}
	}
}
