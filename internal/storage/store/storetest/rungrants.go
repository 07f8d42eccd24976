package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// testRunGrants checks that a grant has its own request, that the run which fulfils it carries the grant, and that
// both end with it.
func testRunGrants(t *testing.T, s store.Store) {
	t.Attr("spec", "RT-08.1")
	ctx := t.Context()
	connect(t, s, "c")
	ends := Now.Add(time.Hour)
	for _, g := range []store.Grant{{ID: "brief", ExpiresAt: &ends}, {ID: "lasting"}, {ID: "other"},
		{ID: "noted", ExpiresAt: ptr(ends.Add(time.Hour))}} {
		g.Mode, g.Scope, g.CreatedAt = store.GrantContinuous, []byte(`[]`), Now
		ok(t, s.CreateGrant(ctx, g, nil))
	}
	single := []protocol.StreamScope{{Name: Stream, Resources: []string{"b"}}}
	ask := func(grant string, at time.Time) bool {
		t.Helper()
		added, err := s.RequestRun(ctx, store.RunRequest{ConnectionID: "c", Trigger: store.TriggerManual, Scope: single,
			GrantID: grant, RequestedAt: at})
		ok(t, err)
		return added
	}
	waiting := func() (grants []string) {
		t.Helper()
		all, err := s.ListRunRequests(ctx, "c")
		ok(t, err)
		for _, r := range all {
			same(t, r.Scope, single)
			grants = append(grants, r.GrantID)
		}
		return grants
	}
	ungranted := func(at time.Time) []store.EndedGrantRun {
		t.Helper()
		signals, err := s.Signals(ctx, at)
		ok(t, err)
		return signals.Ungranted
	}
	begin := func(run, grant string, at time.Time) (store.Lease, error) {
		r := runStart("c", run)
		r.Selected, r.GrantID, r.TTL = true, grant, 2*time.Hour
		return s.StartRun(ctx, r, at)
	}

	// Requests of different grants are not merged.
	same(t, ask("brief", Now), true)
	same(t, ask("brief", Now.Add(time.Second)), false)
	same(t, ask("", Now.Add(2*time.Second)), true)
	same(t, ask("lasting", Now.Add(3*time.Second)), true)
	same(t, waiting(), []string{"brief", "", "lasting"})
	found, err := s.Evidence(ctx, evidence.Query{ConnectionIDs: []string{"c"}})
	ok(t, err)
	same(t, found[0].RequestedAt, &Now)
	own, err := s.RunRequest(ctx, "c")
	ok(t, err)
	same(t, own.GrantID, "")

	// A start fulfils its own request.
	l, err := begin("r1", "brief", Now)
	ok(t, err)
	same(t, waiting(), []string{"", "lasting"})
	run, err := s.Run(ctx, "r1")
	ok(t, err)
	same(t, run.GrantID, "brief")
	same(t, ungranted(ends.Add(-time.Microsecond)), nil)
	same(t, ungranted(ends), []store.EndedGrantRun{{RunID: "r1"}})
	finish(t, s, l, Now)
	same(t, ungranted(ends), nil) // it has ended

	l, err = begin("r2", "lasting", Now)
	ok(t, err)
	same(t, ungranted(ends.AddDate(100, 0, 0)), nil)
	ok(t, s.RevokeGrant(ctx, "other", Now))
	same(t, ungranted(Now), nil)
	ok(t, s.RevokeGrant(ctx, "lasting", Now))
	same(t, ungranted(Now), []store.EndedGrantRun{{RunID: "r2", Revoked: true}})
	finish(t, s, l, Now)
	l, err = begin("r3", "", Now)
	ok(t, err)
	same(t, ungranted(ends), nil) // the owner wants it
	finish(t, s, l, Now)
	same(t, waiting(), nil)

	// No run starts for an ended grant, and its requests are deleted.
	same(t, ask("brief", Now), true)
	same(t, ask("lasting", Now), true)
	same(t, ask("", Now), true)
	for _, grant := range []string{"brief", "lasting", "unknown"} {
		_, err = begin("r4", grant, ends)
		fails(t, err, store.ErrGrantOver)
	}
	before := checkOfConnection(t, s, "c").ChangeCount
	ok(t, s.EndGrants(ctx, ends.Add(-time.Microsecond)))
	same(t, waiting(), []string{"", "brief"})
	same(t, checkOfConnection(t, s, "c").ChangeCount, before+1)
	ok(t, s.EndGrants(ctx, ends))
	same(t, waiting(), []string{""})
	_, err = begin("r4", "brief", Now) // the clock was set back
	fails(t, err, store.ErrGrantOver)
	ok(t, s.EndGrants(ctx, ends))
	same(t, checkOfConnection(t, s, "c").ChangeCount, before+2)

	// The owner withdraws everything.
	same(t, ask("brief", Now), true)
	ok(t, s.WithdrawRun(ctx, "c"))
	same(t, waiting(), nil)

	// A run learns that its grant expired, also when the clock was set back since.
	l, err = begin("r5", "noted", Now)
	ok(t, err)
	ok(t, s.EndGrants(ctx, ends.Add(time.Hour)))
	same(t, ungranted(Now), []store.EndedGrantRun{{RunID: "r5"}})
	finish(t, s, l, Now)
}
