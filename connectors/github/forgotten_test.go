package github_test

import (
	"maps"
	"slices"
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/providersim"
	"pdpp/providersim/github"
)

// TestForgottenIssues deletes issues while no bookmark remembers them. A list by the time of the last update never
// shows a deletion; the whole list does.
func TestForgottenIssues(t *testing.T) {
	connectortest.Forgotten(t, func(t *testing.T) connectortest.Forgetful {
		sim := start(t, roomy())
		under := target(t, roomy())
		under.Start = func(*testing.T) *connectortest.Sim { return sim }
		there := func(*testing.T) []string { return slices.Collect(maps.Keys(sim.Provider.Truth()[github.StreamIssues])) }
		return connectortest.Forgetful{
			Target: under, Stream: github.StreamIssues, Away: slices.Max(there(t)), There: there,
			Delete: func(t *testing.T) { sim.Mutate(t, providersim.Mutation{Op: "delete_issues", N: 3}) },
		}
	})
}
