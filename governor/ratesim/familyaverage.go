package ratesim

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// FamilyAverage is how the random members of one family fare on average.
type FamilyAverage struct {
	Family     string
	Members    int
	Cold, Warm RunScore // one request under way; Warm is a second run, a tenth as long
}

// TakeCensus fetches n things from so many members of every family. Members of other seeds
// are others.
func TakeCensus(n, members int, seed uint64) []FamilyAverage {
	var all []FamilyAverage
	for _, f := range AllFamilies() {
		c := FamilyAverage{Family: f.Name, Members: members, Cold: RunScore{Done: true}, Warm: RunScore{Done: true}}
		for i := range members {
			p := f.Member(seed + uint64(i))
			cold, learned := measureRun(Options{Provider: p, Requests: n, Workers: 1}, nil)
			warm, _ := measureRun(Options{Provider: p, Requests: max(ShortRun, n/10), Workers: 1}, learned)
			c.Cold.addToMean(cold, members)
			c.Warm.addToMean(warm, members)
		}
		all = append(all, c)
	}
	return all
}

// MeanCensus is the average of all families.
func MeanCensus(all []FamilyAverage) FamilyAverage {
	mean := FamilyAverage{Family: "mean", Cold: RunScore{Done: true}, Warm: RunScore{Done: true}}
	for _, c := range all {
		mean.Members += c.Members
		mean.Cold.addToMean(c.Cold, len(all))
		mean.Warm.addToMean(c.Warm, len(all))
	}
	return mean
}

// PrintCensus writes the families as a table in Markdown, with their averages last.
func PrintCensus(w io.Writer, all []FamilyAverage) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| family\t| cold %\t| of the first 200\t| per 1000\t| warm %\t| of the first 200\t| per 1000\t|")
	fmt.Fprintln(t, "|---\t|--:\t|--:\t|--:\t|--:\t|--:\t|--:\t|")
	for _, c := range append(all[:len(all):len(all)], MeanCensus(all)) {
		fmt.Fprintf(t, "| %s\t", c.Family)
		for _, s := range []RunScore{c.Cold, c.Warm} {
			mark := ""
			if !s.Done {
				mark = "*"
			}
			fmt.Fprintf(t, "| %.1f%s\t| %.1f\t| %.2f\t", s.Efficiency, mark, s.First, s.Refusals)
		}
		fmt.Fprintln(t, "|")
	}
	return t.Flush()
}
