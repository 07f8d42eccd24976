package serve

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
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
// wrong time comes. A grant ends by the clock, and one that has expired or was revoked stays so, whether or not its
// client asked meanwhile.
func TestClockJump(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour
	guards := map[*ground]*auth.Auth{}
	onBoth(t, func(g *ground) {
		var err error
		g.config.Listener, err = net.Listen("tcp", "127.0.0.1:0")
		g.must(err)
		guards[g] = auth.New(auth.Config{Store: g.st, Now: g.now, HashCost: auth.HashCost{MemoryKiB: 8, Passes: 1}})
		g.config.Auth = guards[g]
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
		base := "http://" + g.config.Listener.Addr().String()
		_, token, err := guards[g].CreateToken(t.Context(), auth.NewToken{Label: "laptop", Scopes: []string{"all"}})
		g.must(err)
		owner := api.NewClient(base, token, nil)
		grant := func(end time.Time) (id, token string) {
			t.Helper()
			wanted := api.NewGrant{ClientName: "Reader", Purpose: "Read.", Mode: "continuous",
				GrantEnd: api.GrantEnd{ExpiresAt: &end}, Streams: []api.GrantStream{{ConnectionID: garden, Stream: "beds"}}}
			made, token, err := owner.CreateGrant(t.Context(), wanted)
			g.must(err)
			return made.ID, token
		}
		reads := func(token string) bool {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/streams", nil)
			g.must(err)
			r.Header.Set("Authorization", "Bearer "+token)
			answer, err := http.DefaultClient.Do(r)
			g.must(err)
			g.must(answer.Body.Close())
			return answer.StatusCode == http.StatusOK
		}
		_, short := grant(time.Now().Add(month))
		unused, silent := grant(time.Now().Add(month))
		revoked, taken := grant(time.Now().Add(6 * month))
		_, long := grant(time.Now().Add(6 * month))
		g.must(owner.RevokeGrant(t.Context(), revoked))
		access := func(when string, shortReads bool) {
			t.Helper()
			if reads(taken) || reads(short) != shortReads || !reads(long) {
				t.Errorf("%s: revoked reads %t, of a month %t, of half a year %t", when, reads(taken), reads(short), reads(long))
			}
		}
		access("before", true)
		ask("cin_meadow")
		var lease store.Lease
		g.until("a run that goes on", func() (active bool) {
			var err error
			lease, err = g.st.ActiveLease(t.Context(), "cin_meadow")
			return err == nil
		})

		wrong := jump(2 * month)
		access("two months later", false)
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
		g.until("the end of an unused grant is noticed", func() bool {
			ended, err := g.st.Grant(t.Context(), unused)
			g.must(err)
			return ended.RevokedAt != nil
		})
		// A process that died while the clock was wrong.
		start := store.RunStart{RunID: "run_dead", ConnectionID: "cin_dead", ConnectorID: "garden", Holder: "dead",
			Trigger: store.TriggerManual, TTL: time.Minute, Streams: []store.StreamSpec{{Name: "beds"}}}
		_, err = g.st.StartRun(t.Context(), start, wrong)
		g.must(err)
		ask("cin_dead")

		jump(0)
		access("back again", false)
		if reads(silent) {
			t.Error("a grant that had expired while its client was silent can be read again")
		}
		if shown, err := owner.Grant(t.Context(), unused); err != nil || shown.Status != "expired" || shown.RevokedAt != nil {
			t.Errorf("the owner sees the expired grant as %+v, %v", shown, err)
		}
		g.must(os.Remove(filepath.Join(g.dir, "meadow", "hold")))
		g.until("the run that went on ends", succeeded("cin_meadow", 1))
		g.until("the dead lease is brought back", func() bool {
			dead, err := g.st.ActiveLease(t.Context(), "cin_dead")
			g.must(err)
			return dead.ExpiresAt.Before(wrong)
		})
		g.until("the schedule does not wait for the wrong time", succeeded(garden, 3))
		jump(time.Hour)
		g.until("the dead process is noticed", func() bool {
			g.ahead.Add(int64(2 * time.Second)) // live runs have the time to renew their leases first
			return strings.Contains(strings.Join(runs("cin_dead"), " "), "abandoned")
		})
		g.until("its connection is collected", succeeded("cin_dead", 1))
		g.until("the schedule goes on", succeeded(garden, 4))
		jump(3 * time.Hour)
		g.until("and again", succeeded(garden, 5))
		all := fmt.Sprint(runs(garden), runs("cin_meadow"))
		if strings.Contains(all, "abandoned") || strings.Contains(all, "failed") {
			t.Errorf("runs ended as %s", all)
		}
		const result = "two months forward and back: %d runs for 5 turns, no lease stolen, none kept by the dead"
		t.Attr("result", fmt.Sprintf(result, len(runs(garden))))
	})
}
