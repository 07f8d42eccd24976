package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pdpp/internal/keep/store"
)

// meadowConnector runs for as long as the file hold is in its folder.
const meadowConnector = `#!/bin/sh
read -r start
cd "$(dirname "$0")"
while [ -e hold ]; do sleep 0.05; done
printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":0}'
`

// TestClockJump sets the server's clock forward by two months and back again. Turns that were missed are one run, a
// run under way keeps its lease, and afterwards neither a schedule nor the lease of a dead process waits until the
// wrong time comes.
func TestClockJump(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour
	onBoth(t, func(g *ground) {
		g.install("garden", gardenManifest, gardenConnector)
		g.install("meadow", needing("meadow", `{"bindings":{"network":{"required":true}}}`), meadowConnector)
		hold := filepath.Join(g.dir, "meadow", "hold")
		g.must(os.WriteFile(hold, nil, 0o600))
		g.connect(garden, "garden")
		g.credential(garden, "garden", map[string]string{"GARDEN_TOKEN": "trowel"})
		g.schedule(garden, time.Hour)
		g.connect("cin_meadow", "meadow")
		g.connect("cin_dead", "garden")
		g.credential("cin_dead", "garden", map[string]string{"GARDEN_TOKEN": "trowel"})
	}, func(t *testing.T, g *ground) {
		g.t = t
		runs := func(id string) (ended []string) {
			t.Helper()
			all, err := g.st.ListRuns(t.Context(), store.RunQuery{ConnectionID: id, Limit: 100})
			g.must(err)
			for _, r := range all {
				ended = append(ended, string(r.Status))
			}
			return ended
		}
		succeeded := func(id string, n int) func() bool {
			return func() bool { return strings.Count(strings.Join(runs(id), " "), "succeeded") == n }
		}
		ask := func(id string) {
			t.Helper()
			r := store.RunRequest{ConnectionID: id, Trigger: store.TriggerManual, RequestedAt: time.Now()}
			_, err := g.st.RequestRun(t.Context(), r)
			g.must(err)
		}
		jump := func(to time.Duration) time.Time { g.ahead.Store(int64(to)); return g.now() }
		g.until("the first run", succeeded(garden, 1))
		ask("cin_meadow")
		var lease store.Lease
		g.until("a run that goes on", func() (active bool) {
			var err error
			lease, err = g.st.ActiveLease(t.Context(), "cin_meadow")
			return err == nil
		})

		wrong := jump(2 * month)
		g.until("the turns that were missed", succeeded(garden, 2))
		g.until("the lease is renewed", func() bool {
			now, err := g.st.ActiveLease(t.Context(), "cin_meadow")
			if err != nil || now.RunID != lease.RunID {
				t.Fatalf("the run lost its lease: %+v, %v, %v", now, err, runs("cin_meadow"))
			}
			return now.ExpiresAt.After(wrong)
		})
		if n := len(runs(garden)); n != 2 {
			t.Errorf("%d runs for the turns of two months", n)
		}
		// A process that died while the clock was wrong.
		start := store.RunStart{RunID: "run_dead", ConnectionID: "cin_dead", ConnectorID: "garden", Holder: "dead",
			Trigger: store.TriggerManual, TTL: time.Minute, Streams: []store.StreamSpec{{Name: "beds"}}}
		_, err := g.st.StartRun(t.Context(), start, wrong)
		g.must(err)
		ask("cin_dead")

		jump(0)
		g.must(os.Remove(filepath.Join(g.dir, "meadow", "hold")))
		g.until("the run that went on ends", succeeded("cin_meadow", 1))
		g.until("the dead lease is brought back", func() bool {
			dead, err := g.st.ActiveLease(t.Context(), "cin_dead")
			g.must(err)
			return dead.ExpiresAt.Before(wrong)
		})
		jump(time.Hour)
		g.until("the dead process is noticed", func() bool {
			g.ahead.Add(int64(2 * time.Second)) // live runs have the time to renew their leases first
			return strings.Contains(strings.Join(runs("cin_dead"), " "), "abandoned")
		})
		g.until("its connection is collected", succeeded("cin_dead", 1))
		g.until("the schedule goes on", succeeded(garden, 3))
		jump(3 * time.Hour)
		g.until("and again", succeeded(garden, 4))
		all := fmt.Sprint(runs(garden), runs("cin_meadow"))
		if strings.Contains(all, "abandoned") || strings.Contains(all, "failed") {
			t.Errorf("runs ended as %s", all)
		}
		t.Attr("result", fmt.Sprintf("two months forward and back: %d runs for 4 turns, no lease stolen, none kept by the dead", len(runs(garden))))
	})
}
