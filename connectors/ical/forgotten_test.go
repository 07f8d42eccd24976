package ical_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
	"github.com/pdpp-go/pdpp/providersim"
)

// TestForgottenFeed deletes events of a feed while no bookmark remembers them. Those that lie before the first event
// that the feed still shows stay: the feed may only no longer show them.
func TestForgottenFeed(t *testing.T) {
	t.Parallel()
	connectortest.RunForgotten(t, func(t *testing.T) connectortest.ForgetfulSource {
		target := davserver.CalendarFeedSuite.Target(t, davserver.Shape{Collections: 1, Things: 10})
		var sim *connectortest.Sim
		begin := target.Start
		target.Start = func(t *testing.T) *connectortest.Sim { sim = begin(t); return sim }
		shown := func() []string { return slices.Collect(maps.Keys(sim.Provider.Truth()["events"])) }
		var past []string // no longer shown
		return connectortest.ForgetfulSource{
			Target: target, Stream: "events", Away: "another calendar",
			Delete: func(t *testing.T) {
				sim.MutateData(t, providersim.Mutation{Op: "delete_latest", N: 1})
				before := shown()
				sim.MutateData(t, providersim.Mutation{Op: "delete_first", N: 1})
				after := shown()
				past = append(past, slices.DeleteFunc(before, func(key string) bool { return slices.Contains(after, key) })...)
			},
			There: func(*testing.T) []string { return append(shown(), past...) },
		}
	})
}
