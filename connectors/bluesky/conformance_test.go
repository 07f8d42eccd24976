package bluesky_test

import (
	"errors"
	"os"
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectorkit/connectortest/realserver/pds"
	"pdpp/internal/collect/launch"
	"pdpp/internal/collect/runner"
	"pdpp/internal/keep/store"
	"pdpp/providersim"
)

// TestConformance holds the connector to the suite against a real PDS; long, to all of it.
func TestConformance(t *testing.T) {
	if os.Getenv("PDPP_CHAOS_MINUTES") == "" {
		connectortest.RunBrief(t, target(t, 12))
		return
	}
	connectortest.Run(t, target(t, 40))
	t.Run("killed", func(t *testing.T) { connectortest.Killed(t, target(t, 350), 20) })
}

func target(t *testing.T, things int) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltIn(t, "bluesky"),
		Start: func(t *testing.T) *connectortest.Sim {
			_, sim := open(t, things)
			return sim
		},
		Credential: "BLUESKY_APP_PASSWORD",
		Changes: []providersim.Mutation{
			{Op: "write", N: 3}, {Op: "edit", N: 4}, {Op: "like", N: 3}, {Op: "unlike", N: 2}, {Op: "unfollow", N: 1}, {Op: "introduce", N: 1},
		},
		Deletion: providersim.Mutation{Op: "delete", N: 3}, DeletedStream: "posts",
		Scoped: "posts", OptionalField: "tags",
	}
}

// TestForeignRecords shows that what other programs wrote in forms of their own is declared, keeps
// nothing else out, and hides no deletion.
func TestForeignRecords(t *testing.T) {
	t.Parallel()
	var who *person
	target := target(t, 0)
	target.Start = func(t *testing.T) *connectortest.Sim {
		p, sim := open(t, 4)
		who = p
		return sim
	}
	b := connectortest.NewBed(t, target)
	if err := who.Write(pds.Write{Op: "create", Collection: likes, Key: "foreign", Value: map[string]any{"$type": likes, "subject": 7}}); err != nil {
		t.Fatal(err)
	}
	result := b.Run(t, launch.Request{})
	if result.Status != runner.Succeeded || len(result.KnownGaps) == 0 {
		t.Fatalf("ended as %s with %v: a record that cannot be read is not declared", result.Status, result.KnownGaps)
	}
	b.Sim.Mutate(t, providersim.Mutation{Op: "unlike", N: 1})
	b.Run(t, launch.Request{})
	diff, err := b.Compare(t.Context())
	if err != nil || len(diff) != 1 || diff[0].Key != "foreign" {
		t.Fatalf("stored and there: %v %v", diff, err)
	}
}

// TestRealAllowance spends the allowance of sign-ins that the server has. It says so in headers
// with the time of its end, and no run begins before it.
func TestRealAllowance(t *testing.T) {
	if os.Getenv("PDPP_CHAOS_MINUTES") == "" {
		t.Skip("thirty sign-ins: a part of make chaos")
	}
	t.Parallel()
	b := connectortest.NewBed(t, target(t, 4))
	for range 30 {
		b.Succeed(t)
	}
	before := b.Sim.Gate.Stats().Requests
	b.Run(t, launch.Request{})
	if n := b.Sim.Gate.Stats().Requests - before; n != 1 {
		t.Errorf("%d requests where the first was refused", n)
	}
	_, err := b.Launcher().Run(t.Context(), launch.Request{ConnectionID: connectortest.Connection, Trigger: store.TriggerManual})
	var wait *launch.WaitError
	if !errors.As(err, &wait) {
		t.Errorf("a run within the wait: %v", err)
	}
	b.Verify(t)
}
