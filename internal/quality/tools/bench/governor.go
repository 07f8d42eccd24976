package main

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// pacing is what the governor fetches from simulated providers, as a share of
// what an oracle that knows every limit fetches in the same time.
type pacing struct {
	Name        string  `json:"name"`
	Providers   int     `json:"providers"`
	Ratio       float64 `json:"ratio_to_oracle"`
	Want        float64 `json:"want_at_least"`
	Refused     float64 `json:"refused_per_thousand"`
	WantRefused float64 `json:"want_at_most_refused"`
}

// surveyed is how many things are fetched from each provider.
const surveyed = 20_000

// measureGovernor surveys the catalogue of simulated providers in virtual time.
func measureGovernor(_ context.Context, _ config, _ string, r *report) error {
	rows := ratesim.SurveyCatalogue(surveyed)
	mean := ratesim.MeanRow(rows)
	for _, m := range []struct {
		name        string
		score       ratesim.RunScore
		wantRefused float64
	}{{"cold", mean.Cold, 1.1}, {"warm", mean.Warm, 0.6}, {"cold, 8 in flight", mean.Eight, 1.3}} {
		if !m.score.Done {
			return fmt.Errorf("governor, %s: a provider was not finished", m.name)
		}
		r.pace(pacing{
			Name: "governor, " + m.name, Providers: len(rows), Ratio: m.score.Efficiency / 100, Want: 0.95,
			Refused: m.score.Refusals, WantRefused: m.wantRefused,
		})
	}
	return measureFamilies(r)
}

// Of every family so many random members are asked for so many things. Their seeds are met
// by no test.
const (
	randomMembers = 17
	fromRandom    = 4000
)

// measureFamilies surveys random providers of every family.
func measureFamilies(r *report) error {
	all := ratesim.TakeCensus(fromRandom, randomMembers, ratesim.FirstUnseenSeed)
	for _, c := range append(all, ratesim.MeanCensus(all)) {
		if !c.Cold.Done || !c.Warm.Done {
			return fmt.Errorf("governor, %s: a provider was not finished", c.Family)
		}
		of := func(start string, members int, ratio, refused, want, wantRefused float64) {
			r.pace(pacing{
				Name: "governor, " + c.Family + ", " + start, Providers: members, Ratio: ratio / 100, Want: want,
				Refused: refused, WantRefused: wantRefused,
			})
		}
		const unbounded = 1000 // families are reported without a target; only their mean has one
		if c.Family != "mean" {
			of("cold", c.Members, c.Cold.Efficiency, c.Cold.Refusals, 0, unbounded)
			of("warm", c.Members, c.Warm.Efficiency, c.Warm.Refusals, 0, unbounded)
			continue
		}
		of("all families, cold", c.Members, c.Cold.Efficiency, c.Cold.Refusals, 0.95, 3)
		of("all families, warm", c.Members, c.Warm.Efficiency, c.Warm.Refusals, 0.93, 1)
		of("all families, first 200 cold", c.Members, c.Cold.First, c.Cold.Refusals, 0.8, unbounded)
		of("all families, first 200 warm", c.Members, c.Warm.First, c.Warm.Refusals, 0.92, unbounded)
	}
	return nil
}

func (r *report) pace(x pacing) {
	r.Pacing = append(r.Pacing, x)
	fmt.Printf("%-36s %.3f of the oracle over %d providers (want >= %.2f)  refused %.2f per 1000 (want <= %.1f)%s\n",
		x.Name, x.Ratio, x.Providers, x.Want, x.Refused, x.WantRefused, missed(x.Ratio < x.Want || x.Refused > x.WantRefused))
}
