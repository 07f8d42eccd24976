// Rateplot draws how the governor finds and holds the limits of three simulated
// providers, and prints how it does on the whole catalogue, on random members of every
// family, and beside others.
//
//	go run ./internal/quality/tools/rateplot -o docs/understand/governor.svg
//	go run ./internal/quality/tools/rateplot -table 20000
//	go run ./internal/quality/tools/rateplot -families 4000
//	go run ./internal/quality/tools/rateplot -lanes 4000
//	go run ./internal/quality/tools/rateplot -compare 2000
//	go run ./internal/quality/tools/rateplot -together 800
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/pdpp-go/pdpp/governor/ratesim"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rateplot:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("rateplot", flag.ContinueOnError)
	file := flags.String("o", "", "write the plot to this file instead of standard output")
	table := flags.Int("table", 0, "print the survey of so many requests for each provider instead of the plot")
	compare := flags.Int("compare", 0,
		"print how the governor and other ways to pace fetch so many things, instead of the plot")
	families := flags.Int("families", 0,
		"print how the governor fetches so many things from random members of each family, instead of the plot")
	together := flags.Int("together", 0,
		"print what runs on one allowance fetch while one alone fetches so many things, instead of the plot")
	lanes := flags.Int("lanes", 0,
		"print how it fetches so many things with several requests in flight, instead of the plot")
	random := flags.Int("random", 10, "random members of each family")
	seed := flags.Uint64("seed", ratesim.FirstUnseenSeed, "first seed of those members")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *compare > 0 {
		return ratesim.PrintStandings(out, ratesim.ComparePacing(*compare, *random, *seed, peers()))
	}
	if *together > 0 {
		return ratesim.PrintTogether(out, *together)
	}
	if *lanes > 0 {
		return ratesim.PrintCrossings(out, ratesim.MeasureCrossings(*lanes))
	}
	if *families > 0 {
		return ratesim.PrintCensus(out, ratesim.TakeCensus(*families, *random, *seed))
	}
	if *table > 0 {
		return ratesim.PrintTable(out, ratesim.SurveyCatalogue(*table))
	}
	plot := draw(scenes())
	if *file == "" {
		_, err := out.Write(plot)
		return err
	}
	return os.WriteFile(*file, plot, 0o644)
}
