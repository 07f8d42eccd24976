package serve

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// A run that fetches what a grant names parks on a question without a limit of its own,
// and no longer than the grant lasts: when that expires or is revoked, by another process
// than the one that runs it, the question ends and the run with it.
func TestParkedQuestionEndsWithItsGrant(t *testing.T) {
	t.Attr("spec", "RT-08.1")
	const life = time.Hour
	for reason, end := range map[string]func(t *testing.T, g *ground, web *service.Service, grant string){
		"grant_expired": func(_ *testing.T, g *ground, _ *service.Service, _ string) { g.ahead.Store(int64(life)) },
		"grant_revoked": func(t *testing.T, g *ground, web *service.Service, grant string) {
			g.must(web.RevokeGrant(t.Context(), grant))
		},
	} {
		t.Run(reason, func(t *testing.T) {
			onBoth(t, func(g *ground) {
				g.config.Role, g.config.LeaseTTL = Worker, 3*life // a clock that is put forward is no dead worker
				g.install("garden", needing("garden", `{"bindings":{"network":{"required":true}}}`), parkedConnector)
				g.connect("cin_garden", "garden")
			}, func(t *testing.T, g *ground) {
				st, err := g.another()
				g.must(err)
				defer st.Close()
				web := service.New(service.Config{Store: st, Connectors: g.config.Connectors, Now: g.now})
				expires := g.now().Add(life)
				grant, _, err := web.CreateGrant(t.Context(), api.NewGrant{
					ClientName: "Florist", Mode: "continuous", GrantEnd: api.GrantEnd{ExpiresAt: &expires},
					Streams: []api.GrantStream{{ConnectionID: "cin_garden", Stream: "beds", Resources: []string{"b9"}}},
				})
				g.must(err)
				open := func() []store.Interaction {
					all, err := g.st.OpenInteractions(t.Context(), "cin_garden")
					g.must(err)
					return all
				}
				g.until("a run is parked", func() bool { return len(open()) == 1 })
				q := open()[0]
				if q.Kind != protocol.AskMissingCredentials || q.ExpiresAt == nil ||
					!q.ExpiresAt.Equal(grant.ExpiresAt.Truncate(time.Microsecond)) {
					t.Errorf("%s is open until %v, want %v", q.Kind, q.ExpiresAt, grant.ExpiresAt)
				}
				end(t, g, web, grant.ID)
				g.until("the question ends", func() bool { return len(open()) == 0 })
				g.until("the run ends", func() bool {
					run, err := g.st.Run(t.Context(), q.RunID)
					g.must(err)
					return run.Status == store.RunCancelled && run.FailureReason == reason
				})
				if all, err := g.st.ListRunRequests(t.Context(), ""); err != nil || len(all) != 0 {
					t.Errorf("asked for again: %+v, %v", all, err)
				}
			})
		})
	}
}
