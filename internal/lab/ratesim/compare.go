package ratesim

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Standing is how one way to pace does on many providers.
type Standing struct {
	Name       string
	Efficiency float64 // mean percent of what the oracle fetches in the same time
	Refusals   float64 // mean per thousand things fetched
	Median     float64 // of the same
	Good       int     // providers at 95 percent and above with less than one refusal per thousand
	Providers  int
}

// Unseen is the first seed of random providers that no test and no choice of a constant
// has met.
const Unseen = 5_000_000

// Compare lets the governor and its peers fetch n things from every provider of the
// catalogue and from so many random ones of every family, one at a time.
func Compare(n, random int, seed uint64) []Standing {
	providers := Catalogue()
	for _, f := range Families() {
		for i := range random {
			providers = append(providers, f.Member(seed+uint64(i)))
		}
	}
	standings := []Standing{compare("this governor, cold", providers, n, cold), compare("this governor, warm", providers, n, warm)}
	for _, peer := range Peers() {
		standings = append(standings, compare(peer.Name, providers, n, func(o Options) Score {
			o.Seed = 1
			o.Peer, o.Ceiling = peer.New(o.Seed), surveyCeiling
			o.Governor = governor.New(o.Provider.Name, func(c *governor.Config) {
				// It only repeats, as often as it takes.
				c.Discovery, c.Attempts, c.MaxBackoff, c.MaxWait, c.Seed = 0, 1<<30, 20*time.Second, 0, o.Seed
				c.Retries, c.Breaker.Off = governor.RetryBudget{}, true
			})
			s, _ := score(o)
			return s
		}))
	}
	return standings
}

func cold(o Options) Score {
	s, _ := measure(o, nil)
	return s
}

func warm(o Options) Score {
	_, learned := measure(o, nil)
	s, _ := measure(o, learned)
	return s
}

func compare(name string, providers []Provider, n int, run func(Options) Score) Standing {
	s := Standing{Name: name, Providers: len(providers)}
	var refusals []float64
	for _, p := range providers {
		one := run(Options{Provider: p, Requests: n, Workers: 1})
		s.Efficiency += one.Efficiency / float64(len(providers))
		s.Refusals += one.Refusals / float64(len(providers))
		refusals = append(refusals, one.Refusals)
		if one.Efficiency >= 95 && one.Refusals < 1 {
			s.Good++
		}
	}
	slices.Sort(refusals)
	s.Median = refusals[len(refusals)/2]
	return s
}

// PrintStandings writes them as a table in Markdown.
func PrintStandings(w io.Writer, standings []Standing) error {
	if _, err := fmt.Fprint(w, "| | efficiency | refusals per 1000, mean / median | providers at >= 95 % and < 1 per 1000 |\n|---|--:|--:|--:|\n"); err != nil {
		return err
	}
	for _, s := range standings {
		if _, err := fmt.Fprintf(w, "| %s | %.1f %% | %.1f / %.1f | %d of %d |\n", s.Name, s.Efficiency, s.Refusals, s.Median, s.Good, s.Providers); err != nil {
			return err
		}
	}
	return nil
}
