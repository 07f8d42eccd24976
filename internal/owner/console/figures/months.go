package figures

import (
	"time"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// MonthCount counts things of a month like 2026-03.
type MonthCount struct {
	Month string
	Count int64
}

// mostMonths is how many months a chart has; those before are left out.
const mostMonths = 60

// MonthChart draws counts by month as bars, up to the last of them. Months without one have nothing.
func MonthChart(label string, months []MonthCount) templ.Component {
	counts := map[string]float64{}
	var first, last time.Time
	for _, m := range months {
		at, err := time.Parse("2006-01", m.Month)
		if err != nil {
			continue
		}
		counts[m.Month] += float64(m.Count)
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	if earliest := last.AddDate(0, 1-mostMonths, 0); first.Before(earliest) {
		first = earliest
	}
	all := bucketsOf(first, last, "month")
	for i := range all {
		all[i].Value = counts[all[i].From.Format("2006-01")]
	}
	c := drawChart(series{now: all, each: "month", bars: true},
		func(v float64) string { return text.Number(int64(v)) })
	c.Label = label
	return drawing(c)
}
