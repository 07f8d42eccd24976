package gitea_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/gitea"
)

// live are the keys of a stream that are not deleted.
func live(t *testing.T, b *connectortest.Harness, stream string) (keys []string) {
	t.Helper()
	all, err := connectortest.StoredRecords(t.Context(), b.Store, stream)
	if err != nil {
		t.Fatal(err)
	}
	for key, r := range all {
		if !r.Deleted {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// A repository that the server no longer knows is deleted with its contents. One that the person has left but can
// still see is no longer listed, and its records stay.
func TestRepositoriesGo(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, gitea.Config{Seed: 3, Repositories: 3, Issues: 12, Pulls: 6, Comments: 9}))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "delete_repository", N: 1})
	b.Succeed(t)
	b.VerifyComplete(t)
	before := map[string][]string{}
	for _, stream := range []string{gitea.StreamIssues, gitea.StreamPulls, gitea.StreamComments} {
		if before[stream] = live(t, b, stream); len(before[stream]) == 0 {
			t.Fatalf("nothing is left in %s", stream)
		}
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "leave_repository", N: 1})
	b.Succeed(t)
	if left := live(t, b, gitea.StreamRepositories); len(left) != 1 {
		t.Errorf("repositories %v are stored, the person has one", left)
	}
	for stream, was := range before {
		if now := live(t, b, stream); !slices.Equal(now, was) {
			t.Errorf("%s: %v became %v, although all can be seen", stream, was, now)
		}
	}
}

// An item that disappears while a list is read by page number moves others to pages that were already read. The
// server's totals reveal this, and no item is missed.
func TestShiftedPages(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, gitea.Config{Seed: 8, Repositories: 1, Issues: 30, MaxPage: 5}))
	deleted := false
	b.Run(t, launch.RunRequest{Options: runner.Options{BatchRecords: 1, Observe: func(u runner.Update) {
		if u.Committed >= 12 && !deleted { // within the list of issues
			deleted = true
			_, _ = b.Sim.Provider.Mutate(providersim.Mutation{Op: "delete_issue", N: 6})
		}
	}}})
	if !deleted {
		t.Fatal("nothing was deleted meanwhile")
	}
	b.VerifyNothingInvented(t)
	b.Succeed(t)
	b.VerifyComplete(t)
}

// A repository that cannot be read hides what it holds: each stream declares it.
func TestUnreadableRepository(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, gitea.Config{Seed: 9, Repositories: 2, Issues: 4, Pulls: 2, Comments: 4}))
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.WrongType, Path: "/api/v1/user/repos"})
	result := b.Run(t, launch.RunRequest{})
	declared := map[string]bool{}
	for _, g := range result.KnownGaps {
		declared[g.Stream] = true
	}
	for _, stream := range []string{gitea.StreamRepositories, gitea.StreamIssues, gitea.StreamPulls,
		gitea.StreamComments} {
		if !declared[stream] {
			t.Errorf("%s says nothing of what is missing: %v", stream, result.KnownGaps)
		}
	}
	b.Sim.Gate.Clear()
	b.Succeed(t)
	b.VerifyComplete(t)
}

// The owner reads which permissions a token needs.
func TestTokenWithoutPermission(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, gitea.Config{Seed: 1, Repositories: 1, Issues: 1}))
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes",
		Scopes: []string{gitea.ScopeUser}}); err != nil {
		t.Fatal(err)
	}
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil ||
		!strings.Contains(e.Message, "Read for issue, repository and user") {
		t.Errorf("%s %+v", r.Status, e)
	}
}
