package watch

import (
	"net/url"
	"time"

	"pdpp/internal/ops/text"

	"pdpp/internal/owner/api"
	"pdpp/internal/owner/console/ui"
)

// recent is how many runs a connection comes with at most.
const recent = 10

// retries puts failures that repeat each other together; the list has at most so many.
func retries(runs []api.Run, most int) []api.Retries[api.Run] {
	return api.Grouped(runs, len(runs) >= most, (*api.Run).Ending)
}

// singly gives each run by itself.
func singly(runs []api.Run) []api.Retries[api.Run] {
	out := make([]api.Retries[api.Run], len(runs))
	for i := range runs {
		out[i].Runs = runs[i : i+1]
	}
	return out
}

// outcomeOf says how they ended, and how often.
func outcomeOf(g *api.Retries[api.Run]) string {
	if len(g.Runs) == 1 {
		return outcome(g.Newest())
	}
	times := text.Number(int64(len(g.Runs))) + " times"
	if g.Open {
		times = "at least " + times
	}
	return outcomeTimes(g.Newest(), times)
}

func recordsOf(g *api.Retries[api.Run]) (n int64) {
	for i := range g.Runs {
		n += g.Runs[i].RecordsEmitted
	}
	return n
}

// tookInAll is the time that they took together.
func tookInAll(g *api.Retries[api.Run], now time.Time) string {
	var sum time.Duration
	for i := range g.Runs {
		sum += ranFor(&g.Runs[i], now)
	}
	return ui.Span(int64(sum / time.Second))
}

// eachRunPath is the list with a row for every run.
func eachRunPath(connectionID string) string {
	q := url.Values{"all": {"yes"}}
	if connectionID != "" {
		q.Set("connection", connectionID)
	}
	return "/runs?" + q.Encode()
}
