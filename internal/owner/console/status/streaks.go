package status

import (
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/runstreak"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// streaks puts neighbours that ended alike together; the list has at most so many.
func streaks(runs []api.Run, most int) []runstreak.Streak[api.Run] {
	return runstreak.Streaks(runs, len(runs) >= most, runstreak.EndingOf)
}

// singly returns a streak of one for each run.
func singly(runs []api.Run) []runstreak.Streak[api.Run] {
	out := make([]runstreak.Streak[api.Run], len(runs))
	for i := range runs {
		out[i].Runs = runs[i : i+1]
	}
	return out
}

// timesOf returns the number of runs in a streak, or "" for one run.
func timesOf(g *runstreak.Streak[api.Run]) string {
	n := len(g.Runs)
	switch {
	case n == 1:
		return ""
	case g.Open:
		return "At least " + text.Number(int64(n)) + " runs"
	default:
		return text.Number(int64(n)) + " runs"
	}
}

// headOf is how many runs a streak is and that they are equal; what it is follows.
func headOf(g *runstreak.Streak[api.Run]) string {
	if g.Newest().Status == succeeded {
		return timesOf(g) + ", all finished"
	}
	return timesOf(g) + ", the same each time:"
}

// restOf returns what the heading does not cover, or "" if it covers everything.
func restOf(g *runstreak.Streak[api.Run]) string {
	if g.Newest().Status == succeeded {
		return ""
	}
	return text.Lower(ended(g))
}

// outcomeOf returns how the runs of a streak ended, and how many there were.
func outcomeOf(g *runstreak.Streak[api.Run]) string {
	if len(g.Runs) == 1 {
		return outcome(g.Newest())
	}
	if rest := restOf(g); rest != "" {
		return headOf(g) + " " + rest
	}
	return headOf(g)
}

// ended is how each of them ended. Progress is saved where one saved some.
func ended(g *runstreak.Streak[api.Run]) string {
	run := *g.Newest()
	run.RecordsEmitted = recordsOf(g)
	return outcome(&run)
}

func recordsOf(g *runstreak.Streak[api.Run]) (n int64) {
	for i := range g.Runs {
		n += g.Runs[i].RecordsEmitted
	}
	return n
}

// tookInAll is the time that they took together.
func tookInAll(g *runstreak.Streak[api.Run], now time.Time) string {
	var sum time.Duration
	for i := range g.Runs {
		sum += ranFor(&g.Runs[i], now)
	}
	return words.ShortSpan(int64(sum / time.Second))
}

// eachRunPath is the list with a row for every run.
func eachRunPath(connectionID string) string {
	q := url.Values{"all": {"yes"}}
	if connectionID != "" {
		q.Set("connection", connectionID)
	}
	return "/runs?" + q.Encode()
}
