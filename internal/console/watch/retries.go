package watch

import (
	"net/url"
	"time"

	"pdpp/internal/console/ui"
	"pdpp/internal/ownerapi"
)

// recent is how many runs a connection comes with at most.
const recent = 10

// retries puts failures that repeat each other together; the list has at most so many.
func retries(runs []ownerapi.Run, most int) []ownerapi.Retries[ownerapi.Run] {
	return ownerapi.Grouped(runs, len(runs) >= most, (*ownerapi.Run).Ending)
}

// singly gives each run by itself.
func singly(runs []ownerapi.Run) []ownerapi.Retries[ownerapi.Run] {
	out := make([]ownerapi.Retries[ownerapi.Run], len(runs))
	for i := range runs {
		out[i].Runs = runs[i : i+1]
	}
	return out
}

// outcomeOf says how they ended, and how often.
func outcomeOf(g *ownerapi.Retries[ownerapi.Run]) string {
	if len(g.Runs) == 1 {
		return outcome(g.Newest())
	}
	times := number(int64(len(g.Runs))) + " times"
	if g.Open {
		times = "at least " + times
	}
	return outcomeTimes(g.Newest(), times)
}

func recordsOf(g *ownerapi.Retries[ownerapi.Run]) (n int64) {
	for i := range g.Runs {
		n += g.Runs[i].RecordsEmitted
	}
	return n
}

// tookInAll is the time that they took together.
func tookInAll(g *ownerapi.Retries[ownerapi.Run], now time.Time) string {
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
