package github_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/github"
)

// TestAccount goes through what happens to an account and to its token.
func TestAccount(t *testing.T) {
	c := testTarget(t, roomy())
	for name, scenario := range map[string]func(*testing.T, *bed){
		"deletion is inferred from a whole list":      deletions,
		"a list that shifts under the walk":           drift,
		"stars whose repository is gone":              stubs,
		"organizations behind single sign-on":         singleSignOn,
		"a token that sees less":                      narrowedToken,
		"details that are hidden, deleted or blocked": vanished,
		"a repository that was renamed":               renamed,
		"more events than GitHub shows":               lostEvents,
		"a refused token is not tried again":          refusedToken,
	} {
		t.Run(name, func(t *testing.T) { scenario(t, newBed(t, c, roomy())) })
	}
}

// bed is a store and an account of the simulator.
type bed struct {
	*connectortest.Harness
	sim *github.GitHub
}

func newBed(t *testing.T, c connectortest.Target, cfg github.Config) *bed {
	t.Helper()
	c.Start = func(t *testing.T) *connectortest.Sim { return start(t, cfg) }
	b := connectortest.NewHarness(t, c)
	return &bed{b, b.Sim.Provider.(*github.GitHub)}
}

func (b *bed) mutate(t *testing.T, op string, n int, id string) {
	t.Helper()
	b.Sim.MutateData(t, providersim.Mutation{Op: op, N: n, ID: id})
}

// count returns the number of stored records of a stream, and of deleted ones.
func (b *bed) count(t *testing.T, stream string) (all, deleted int) {
	t.Helper()
	records, err := connectortest.StoredRecords(t.Context(), b.Store, stream)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Deleted {
			deleted++
		}
	}
	return len(records), deleted
}

func (b *bed) keepsEverything(t *testing.T) {
	t.Helper()
	for _, stream := range []string{github.StreamRepositories, github.StreamStarred, github.StreamGists} {
		if _, deleted := b.count(t, stream); deleted > 0 {
			t.Errorf("%d of %s are stored as deleted although they exist", deleted, stream)
		}
	}
}

func deletions(t *testing.T, b *bed) {
	b.Succeed(t)
	for stream, op := range map[string]string{
		github.StreamRepositories: "delete_repositories", github.StreamStarred: "unstar", github.StreamGists: "delete_gists",
	} {
		b.mutate(t, op, 2, "")
		b.Succeed(t)
		if _, deleted := b.count(t, stream); deleted != 2 {
			t.Errorf("%d tombstones in %s, want 2", deleted, stream)
		}
	}
	b.VerifyComplete(t)
}

// drift changes every list while it is walked. Nothing may count as deleted, and
// once the account is calm everything is there.
func drift(t *testing.T, b *bed) {
	b.Succeed(t)
	b.mutate(t, "drift", 16, "")
	b.Succeed(t)
	b.keepsEverything(t)
	b.Succeed(t)
	b.Succeed(t)
	b.keepsEverything(t)
	b.VerifyComplete(t)
}

func stubs(t *testing.T, b *bed) {
	b.Succeed(t)
	b.mutate(t, "stub_stars", 2, "")
	if result := b.Succeed(t); len(result.KnownGaps) == 0 {
		t.Error("stars without a repository are not declared")
	}
	b.keepsEverything(t)
}

func singleSignOn(t *testing.T, b *bed) {
	b.Succeed(t)
	b.mutate(t, "sso", 0, "partial")
	result := b.Succeed(t)
	if len(result.KnownGaps) == 0 {
		t.Error("a list with holes passes as complete")
	}
	b.keepsEverything(t)
	b.mutate(t, "sso", 0, "")
	b.Succeed(t)
	b.VerifyComplete(t)
}

// narrowedToken removes scopes and restores them. Objects that the token does not see are not deleted.
func narrowedToken(t *testing.T, b *bed) {
	b.Succeed(t)
	for _, scopes := range [][]string{{github.ScopeUser}, {github.ScopeUser, github.ScopeRepo, github.ScopeGist}} {
		if _, err := b.sim.ChangeToken(providersim.TokenChange{Action: "scopes", Scopes: scopes}); err != nil {
			t.Fatal(err)
		}
		b.Succeed(t)
		b.keepsEverything(t)
	}
	b.VerifyComplete(t)
}

func vanished(t *testing.T, b *bed) {
	b.mutate(t, "hide_pulls", 3, "")
	b.mutate(t, "delete_pulls", 2, "")
	b.mutate(t, "block_repositories", 1, "")
	b.Succeed(t)
	reasons := map[protocol.Reason]int{}
	for _, g := range b.Gaps(t, protocol.GapTerminal) {
		reasons[g.Reason]++
	}
	if reasons["permanent_forbidden"] == 0 || reasons["not_found"]+reasons["gone"] == 0 || len(reasons) > 3 {
		t.Errorf("terminal gaps %v", reasons)
	}
	b.Verify(t)
	before := b.details()
	b.Clock += 24 * time.Hour
	b.Succeed(t)
	if n := b.details() - before; n > 0 {
		t.Errorf("%d details were asked for again although they cannot be had", n)
	}
}

func (b *bed) details() int {
	return b.sim.Gate().Stats().ByPattern["GET /repos/{owner}/{repo}/pulls/{number}"]
}

// renamed recovers details through the redirect from a repository's old name.
func renamed(t *testing.T, b *bed) {
	b.Env = map[string]string{"PDPP_GITHUB_MAX_DETAIL_FETCHES_PER_RUN": "5",
		"PDPP_GITHUB_MAX_TAIL_DEFERRAL_GAPS_PER_RUN": "0"}
	b.Succeed(t)
	b.Env = map[string]string{}
	b.Clock += 24 * time.Hour
	b.mutate(t, "rename_repositories", 4, "")
	b.Succeed(t)
	all, _ := b.count(t, github.StreamPullDetails)
	if want := len(b.sim.Truth()[github.StreamPullDetails]); all != want || len(b.Gaps(t, protocol.GapPending)) > 0 {
		t.Errorf("%d of %d details are stored, %d gaps are open", all, want, len(b.Gaps(t, protocol.GapPending)))
	}
	if b.sim.Gate().Stats().ByStatus[301] == 0 {
		t.Error("no redirect was met")
	}
}

// lostEvents lets more happen than GitHub shows. The hole is declared, once.
func lostEvents(t *testing.T, b *bed) {
	b.Succeed(t)
	b.mutate(t, "add_events", 400, "")
	if result := b.Succeed(t); len(result.KnownGaps) != 1 {
		t.Errorf("%d gaps are known, want the lost events", len(result.KnownGaps))
	}
	if all, _ := b.count(t, github.StreamEvents); all != 34+300 {
		t.Errorf("%d events are stored, want 334", all)
	}
	if result := b.Succeed(t); len(result.KnownGaps) != 0 {
		t.Error("the same hole is declared again")
	}
}

// refusedToken tries a wrong token until the sign-in is locked, which also keeps
// the right one out for a while. Each run asks once.
func refusedToken(t *testing.T, b *bed) {
	failed := func(run int) *protocol.DoneError {
		t.Helper()
		result := b.Run(t, launch.RunRequest{})
		if n := b.sim.Gate().Stats().Requests; n != run || result.Status != runner.Failed || result.DoneError == nil {
			t.Fatalf("run %d ended as %s after %d requests", run, result.Status, n)
		}
		return result.DoneError
	}
	b.Env["GITHUB_PERSONAL_ACCESS_TOKEN"] = "ghp_wrong"
	for run := range 5 {
		if e := failed(run + 1); e.Code != "auth_failure" {
			t.Errorf("run %d: %s", run+1, e.Code)
		}
	}
	delete(b.Env, "GITHUB_PERSONAL_ACCESS_TOKEN")
	result := b.Run(t, launch.RunRequest{})
	if n := b.sim.Gate().Stats().Requests; n != 6 || result.Status != runner.Succeeded || result.GapsReported == 0 {
		t.Errorf("a locked sign-in ended as %s after %d requests with %d gaps, and is to be put off", result.Status, n,
			result.GapsReported)
	}
	b.sim.Advance(20 * time.Minute)
	b.Clock += 20 * time.Minute
	b.Succeed(t)
	b.VerifyComplete(t)
}
