package ratesim

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// PacingResult is the performance of one pacing method on many providers.
type PacingResult struct {
	Name       string
	Efficiency float64 // mean percent of what the oracle fetches in the same time
	Refusals   float64 // mean per thousand things fetched
	Median     float64 // of the same
	Good       int     // providers at 95 percent and above with less than one refusal per thousand
	Providers  int
}

// FirstUnseenSeed is the first seed of random providers that no test and no choice of a constant
// has met.
const FirstUnseenSeed = 5_000_000

// ComparePacing lets the governor and other ways to pace fetch n things from every provider of the
// catalogue and from so many random ones of every family, one at a time.
func ComparePacing(n, random int, seed uint64, peers []NamedPeer) []PacingResult {
	providers := Catalogue()
	for _, f := range AllFamilies() {
		for i := range random {
			providers = append(providers, f.Member(seed+uint64(i)))
		}
	}
	standings := []PacingResult{scorePacing("this governor, cold", providers, n, coldScore),
		scorePacing("this governor, warm", providers, n, warmScore)}
	for _, peer := range peers {
		standings = append(standings, scorePacing(peer.Name, providers, n, func(o Options) RunScore {
			o.Seed = 1
			o.Peer, o.Ceiling = peer.New(o.Seed), surveyCeiling
			o.Governor = governor.New(o.Provider.Name, func(c *governor.Config) {
				// It only repeats, as often as it takes.
				c.Discovery, c.Attempts, c.MaxBackoff, c.MaxWait, c.Seed = 0, 1<<30, 20*time.Second, 0, o.Seed
				c.Retries, c.Breaker.Off = governor.RetryBudget{}, true
			})
			s, _ := scoreRun(o)
			return s
		}))
	}
	return standings
}

func coldScore(o Options) RunScore {
	s, _ := measureRun(o, nil)
	return s
}

func warmScore(o Options) RunScore {
	_, learned := measureRun(o, nil)
	s, _ := measureRun(o, learned)
	return s
}

func scorePacing(name string, providers []Provider, n int, run func(Options) RunScore) PacingResult {
	s := PacingResult{Name: name, Providers: len(providers)}
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
func PrintStandings(w io.Writer, standings []PacingResult) error {
	if _, err := fmt.Fprint(w,
		"| | efficiency | refusals per 1000, mean / median | providers at >= 95 % and < 1 per 1000 |\n|---|--:|--:|--:|\n"); err != nil {
		return err
	}
	for _, s := range standings {
		if _, err := fmt.Fprintf(w, "| %s | %.1f %% | %.1f / %.1f | %d of %d |\n", s.Name, s.Efficiency, s.Refusals, s.Median,
			s.Good, s.Providers); err != nil {
			return err
		}
	}
	return nil
}
