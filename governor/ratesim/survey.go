package ratesim

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// RunScore is how well a run went.
type RunScore struct {
	Efficiency float64 // percent of what the oracle fetches in the same time
	First      float64 // the same of the first ShortRun things; zero when there were fewer
	Refusals   float64 // per thousand things fetched
	Done       bool
}

// SurveyRow is one provider of the catalogue.
type SurveyRow struct {
	Provider, About string
	// Cold and Warm have one request under way, Eight has eight and starts cold.
	// Warm is a second run, a tenth as long, with what the first one learned.
	Cold, Warm, Eight RunScore
}

// surveyCeiling is the owner's ceiling in a survey.
const surveyCeiling = 100 * time.Millisecond

// SurveyCatalogue fetches n things from every provider of the catalogue.
func SurveyCatalogue(n int) []SurveyRow {
	var rows []SurveyRow
	for _, p := range Catalogue() {
		row := SurveyRow{Provider: p.Name, About: p.About}
		var learned *governor.Learned
		row.Cold, learned = measureRun(Options{Provider: p, Requests: n, Workers: 1}, nil)
		row.Warm, _ = measureRun(Options{Provider: p, Requests: max(1, n/10), Workers: 1}, learned)
		row.Eight, _ = measureRun(Options{Provider: p, Requests: n, Workers: 8}, nil)
		rows = append(rows, row)
	}
	return rows
}

func measureRun(o Options, learned *governor.Learned) (RunScore, *governor.Learned) {
	o.Seed = 1
	if learned != nil { // the provider was idle for an hour
		later := *learned
		later.Recorded, learned = StartTime.Add(-time.Hour), &later
	}
	o.Governor = governor.New(o.Provider.Name, func(c *governor.Config) {
		c.Ceiling, c.MaxWait, c.Learned, c.Seed = surveyCeiling, 0, learned, o.Seed
	})
	return scoreRun(o)
}

// scoreRun runs and compares with the oracle.
func scoreRun(o Options) (RunScore, *governor.Learned) {
	best := Oracle(o, surveyCeiling)
	o.Until = 40*best + time.Hour
	r := Run(o)
	fetched := float64(r.Successes + r.Rejections)
	s := RunScore{Done: r.Done, Refusals: 1000 * float64(r.Refusals) / max(1, fetched)}
	s.Efficiency = 100 * min(1, best.Seconds()/r.Elapsed.Seconds()) * fetched / float64(o.Requests)
	if r.First > 0 {
		o.Requests = ShortRun
		s.First = 100 * min(1, Oracle(o, surveyCeiling).Seconds()/r.First.Seconds())
	}
	return s, r.Learned
}

// MeanRow is the row of the averages.
func MeanRow(rows []SurveyRow) SurveyRow {
	mean := SurveyRow{Provider: "mean", Cold: RunScore{Done: true}, Warm: RunScore{Done: true},
		Eight: RunScore{Done: true}}
	for _, r := range rows {
		mean.Cold.addToMean(r.Cold, len(rows))
		mean.Warm.addToMean(r.Warm, len(rows))
		mean.Eight.addToMean(r.Eight, len(rows))
	}
	return mean
}

// addToMean adds one of several scores to their mean.
func (s *RunScore) addToMean(one RunScore, of int) {
	s.Efficiency += one.Efficiency / float64(of)
	s.First += one.First / float64(of)
	s.Refusals += one.Refusals / float64(of)
	s.Done = s.Done && one.Done
}

// PrintTable writes rows as a table, with their averages last. An unfinished run is
// marked.
func PrintTable(w io.Writer, rows []SurveyRow) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "provider\tcold %\tper 1000\twarm %\tper 1000\teight %\tper 1000\t")
	for _, r := range append(rows[:len(rows):len(rows)], MeanRow(rows)) {
		fmt.Fprintf(t, "%s\t", r.Provider)
		for _, s := range []RunScore{r.Cold, r.Warm, r.Eight} {
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
