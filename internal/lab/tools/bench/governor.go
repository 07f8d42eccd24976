package main

import (
	"context"
	"fmt"

	"pdpp/internal/lab/ratesim"
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
	rows := ratesim.Survey(surveyed)
	mean := ratesim.Mean(rows)
	for _, m := range []struct {
		name        string
		score       ratesim.Score
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
	return nil
}

func (r *report) pace(x pacing) {
	r.Pacing = append(r.Pacing, x)
	fmt.Printf("%-36s %.3f of the oracle over %d providers (want >= %.2f)  refused %.2f per 1000 (want <= %.1f)%s\n",
		x.Name, x.Ratio, x.Providers, x.Want, x.Refused, x.WantRefused, missed(x.Ratio < x.Want || x.Refused > x.WantRefused))
}
