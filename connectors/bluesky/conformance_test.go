//pdpp:tier servers

package bluesky_test

import (
	"errors"
	"os"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/pds"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/providersim"
)

// TestConformance holds the connector to the suite against a real PDS; long, to all of it.
func TestConformance(t *testing.T) {
	if os.Getenv("PDPP_CHAOS_MINUTES") == "" {
		connectortest.RunBrief(t, target(t, 12))
		return
	}
	connectortest.Run(t, target(t, 40))
	t.Run("killed", func(t *testing.T) { connectortest.RunKilled(t, target(t, 350), 20) })
	t.Run("real allowance", realAllowance)
	t.Run("real throttle", realThrottle)
}

func target(t *testing.T, things int) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "bluesky"),
		Start: func(t *testing.T) *connectortest.Sim {
			_, sim := openTestAccount(t, things)
			return sim
		},
		Credential: "BLUESKY_APP_PASSWORD",
		Changes: []providersim.Mutation{
			{Op: "write", N: 3}, {Op: "edit", N: 4}, {Op: "like", N: 3}, {Op: "unlike", N: 2}, {Op: "unfollow", N: 1},
			{Op: "introduce", N: 1},
		},
		Deletion: providersim.Mutation{Op: "delete", N: 3}, DeletedStream: "posts",
		Scoped: "posts", OptionalField: "tags",
	}
}

// realAllowance uses up the server's sign-in allowance. The test reads the remaining number and its reset from
// headers, so the server never refuses a sign-in and no run starts too early.
func realAllowance(t *testing.T) {
	b := connectortest.NewHarness(t, target(t, 4))
	for runs := 0; ; runs++ {
		before := b.Sim.Gate.Stats().Requests
		result, err := b.Launcher().Run(t.Context(),
			launch.RunRequest{ConnectionID: connectortest.Connection, Trigger: store.TriggerManual})
		var wait *launch.WaitError
		if errors.As(err, &wait) {
			if asked := b.Sim.Gate.Stats().Requests - before; asked != 0 || runs < 25 || runs > 30 {
				t.Errorf("%d runs, and %d requests within the wait: %v", runs, asked, err)
			}
			break
		}
		if err != nil || result.Status != runner.Succeeded || runs > 30 {
			t.Fatalf("run %d ended as %s: %v %v", runs, result.Status, result.Failure, err)
		}
	}
	b.VerifyComplete(t)
}

// TestPictures shows that each picture is fetched once, that one which no record refers to any more
// is deleted, and that one which is larger than the owner keeps is declared. Meanwhile there is a
// record that another program wrote in a form of its own: it is declared, keeps nothing else out,
// and hides no deletion.
func TestPictures(t *testing.T) {
	t.Parallel()
	var who *person
	target := target(t, 0)
	target.Start = func(t *testing.T) *connectortest.Sim {
		p, sim := openTestAccount(t, 4)
		who = p
		return sim
	}
	b := connectortest.NewHarness(t, target)
	if err := who.Write(pds.Write{Op: "create", Collection: likes, Key: "foreign",
		Value: map[string]any{"$type": likes, "subject": 7}}); err != nil {
		t.Fatal(err)
	}
	collect := func(l *launch.Launcher) launch.RunResult {
		t.Helper()
		result, err := l.Run(t.Context(),
			launch.RunRequest{ConnectionID: connectortest.Connection, Trigger: store.TriggerManual})
		if err != nil || result.Status != runner.Succeeded {
			t.Fatalf("ended as %s: %v %v", result.Status, result.Failure, err)
		}
		return result
	}
	allBut := func(missing ...string) {
		t.Helper()
		diff, err := b.Compare(t.Context())
		if err != nil || len(diff) != len(missing) {
			t.Fatalf("stored and there: %v %v", diff, err)
		}
		for i := range diff {
			if diff[i].Key != missing[i] {
				t.Fatalf("stored and there: %v", diff)
			}
		}
	}
	if first := collect(b.Launcher()); len(first.KnownGaps) == 0 {
		t.Error("a record that cannot be read is not declared")
	}
	allBut("foreign")
	fetched := func() int { return b.Sim.Gate.Stats().ByPattern["/xrpc/com.atproto.sync.getBlob"] }
	before := fetched()
	b.Sim.MutateData(t, providersim.Mutation{Op: "write", N: 5})
	b.Sim.MutateData(t, providersim.Mutation{Op: "unlike", N: 1})
	collect(b.Launcher())
	allBut("foreign")
	if n := fetched() - before; before == 0 || n != 1 {
		t.Errorf("%d files were fetched, then %d for one new picture", before, n)
	}

	b.Sim.MutateData(t, providersim.Mutation{Op: "delete", N: 9})
	b.Sim.MutateData(t, providersim.Mutation{Op: "write", N: 5})
	small := b.Launcher()
	small.Blobs.Each = 10
	if last := collect(small); len(last.KnownGaps) < 2 {
		t.Errorf("a picture that is too large is not declared: %v", last.KnownGaps)
	}
	all, err := connectortest.StoredRecords(t.Context(), b.Store, "media")
	if err != nil {
		t.Fatal(err)
	}
	deleted := 0
	for _, r := range all {
		if r.Deleted {
			deleted++
		}
	}
	if deleted != 1 {
		t.Errorf("%d pictures are deleted: nothing refers to one of them", deleted)
	}
}
