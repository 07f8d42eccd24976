package ratesim

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Census is how the random members of one family fare on average.
type Census struct {
	Family     string
	Members    int
	Cold, Warm Score // one request under way; Warm is a second run, a tenth as long
}

// TakeCensus fetches n things from so many members of every family. Members of other seeds
// are others.
func TakeCensus(n, members int, seed uint64) []Census {
	var all []Census
	for _, f := range Families() {
		c := Census{Family: f.Name, Members: members, Cold: Score{Done: true}, Warm: Score{Done: true}}
		for i := range members {
			p := f.Member(seed + uint64(i))
			cold, learned := measure(Options{Provider: p, Requests: n, Workers: 1}, nil)
			warm, _ := measure(Options{Provider: p, Requests: max(ShortRun, n/10), Workers: 1}, learned)
			c.Cold.add(cold, members)
			c.Warm.add(warm, members)
		}
		all = append(all, c)
	}
	return all
}

// MeanCensus is the average of all families.
func MeanCensus(all []Census) Census {
	mean := Census{Family: "mean", Cold: Score{Done: true}, Warm: Score{Done: true}}
	for _, c := range all {
		mean.Members += c.Members
		mean.Cold.add(c.Cold, len(all))
		mean.Warm.add(c.Warm, len(all))
	}
	return mean
}

// PrintCensus writes the families as a table in Markdown, with their averages last.
func PrintCensus(w io.Writer, all []Census) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| family\t| cold %\t| of the first 200\t| per 1000\t| warm %\t| of the first 200\t| per 1000\t|")
	fmt.Fprintln(t, "|---\t|--:\t|--:\t|--:\t|--:\t|--:\t|--:\t|")
	for _, c := range append(all[:len(all):len(all)], MeanCensus(all)) {
		fmt.Fprintf(t, "| %s\t", c.Family)
		for _, s := range []Score{c.Cold, c.Warm} {
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
