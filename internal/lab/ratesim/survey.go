package ratesim

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Score is how well a run went.
type Score struct {
	Efficiency float64 // percent of what the oracle fetches in the same time
	First      float64 // the same of the first ShortRun things; zero when there were fewer
	Refusals   float64 // per thousand things fetched
	Done       bool
}

// Row is one provider of the catalogue.
type Row struct {
	Provider, About string
	// Cold and Warm have one request under way, Eight has eight and starts cold.
	// Warm is a second run, a tenth as long, with what the first one learned.
	Cold, Warm, Eight Score
}

// surveyCeiling is the owner's ceiling in a survey.
const surveyCeiling = 100 * time.Millisecond

// Survey fetches n things from every provider of the catalogue.
func Survey(n int) []Row {
	var rows []Row
	for _, p := range Catalogue() {
		row := Row{Provider: p.Name, About: p.About}
		var learned *governor.Learned
		row.Cold, learned = measure(Options{Provider: p, Requests: n, Workers: 1}, nil)
		row.Warm, _ = measure(Options{Provider: p, Requests: max(1, n/10), Workers: 1}, learned)
		row.Eight, _ = measure(Options{Provider: p, Requests: n, Workers: 8}, nil)
		rows = append(rows, row)
	}
	return rows
}

func measure(o Options, learned *governor.Learned) (Score, *governor.Learned) {
	o.Seed = 1
	if learned != nil { // the provider was left alone for an hour
		later := *learned
		later.Recorded, learned = Start.Add(-time.Hour), &later
	}
	o.Governor = governor.New(o.Provider.Name, func(c *governor.Config) {
		c.Ceiling, c.MaxWait, c.Learned, c.Seed = surveyCeiling, 0, learned, o.Seed
	})
	return score(o)
}

// score runs and compares with the oracle.
func score(o Options) (Score, *governor.Learned) {
	best := Oracle(o, surveyCeiling)
	o.Until = 40*best + time.Hour
	r := Run(o)
	fetched := float64(r.Successes + r.Rejections)
	s := Score{Done: r.Done, Refusals: 1000 * float64(r.Refusals) / max(1, fetched)}
	s.Efficiency = 100 * min(1, best.Seconds()/r.Elapsed.Seconds()) * fetched / float64(o.Requests)
	if r.First > 0 {
		o.Requests = ShortRun
		s.First = 100 * min(1, Oracle(o, surveyCeiling).Seconds()/r.First.Seconds())
	}
	return s, r.Learned
}

// Mean is the row of the averages.
func Mean(rows []Row) Row {
	mean := Row{Provider: "mean", Cold: Score{Done: true}, Warm: Score{Done: true}, Eight: Score{Done: true}}
	for _, r := range rows {
		mean.Cold.add(r.Cold, len(rows))
		mean.Warm.add(r.Warm, len(rows))
		mean.Eight.add(r.Eight, len(rows))
	}
	return mean
}

// add takes one of so many scores into their mean.
func (s *Score) add(one Score, of int) {
	s.Efficiency += one.Efficiency / float64(of)
	s.First += one.First / float64(of)
	s.Refusals += one.Refusals / float64(of)
	s.Done = s.Done && one.Done
}

// Print writes rows as a table, with their averages last. An unfinished run is
// marked.
func Print(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "provider\tcold %\tper 1000\twarm %\tper 1000\teight %\tper 1000\t")
	for _, r := range append(rows[:len(rows):len(rows)], Mean(rows)) {
		fmt.Fprintf(t, "%s\t", r.Provider)
		for _, s := range []Score{r.Cold, r.Warm, r.Eight} {
			mark := ""
			if !s.Done {
				mark = "*"
			}
			fmt.Fprintf(t, "%.1f%s\t%.2f\t", s.Efficiency, mark, s.Refusals)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
