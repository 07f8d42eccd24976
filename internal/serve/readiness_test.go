package serve

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// needing is the manifest of a connector that requires something of its machine.
func needing(id, requirements string) string {
	m := strings.Replace(gardenManifest, `"connector_id":"garden"`, `"connector_id":"`+id+`"`, 1)
	return strings.Replace(m, `"runtime_requirements":{"bindings":{"network":{"required":true}}},
"setup":{"modality":"static_secret","credential_capture":{"kind":"access_token","fields":[{"name":"token","label":"Token","type":"password","required":true,"secret":true,"env":["GARDEN_TOKEN"]}]}},`,
		`"runtime_requirements":`+requirements+`,`, 1)
}

// The next pass reports what a run would lack, before any run fails, and clears the report when it is there.
func TestReadinessIsKnownBeforeARun(t *testing.T) {
	t.Attr("spec", "CH-03.1")
	onBoth(t, func(g *ground) {
		g.config.LookPath = func(program string) (string, error) {
			if program == "sextant" {
				return "/usr/bin/sextant", nil
			}
			return "", exec.ErrNotFound
		}
		g.config.Lookup = func(name string) (string, bool) { return "", false }
		g.install("garden", gardenManifest, gardenConnector)
		g.install("lantern", needing("lantern", `{"bindings":{"browser":{"required":true}}}`), gardenConnector)
		g.install("harbour", needing("harbour",
			`{"external_tools":[{"name":"sextant","detect":{"executable":"sextant"}},{"name":"astrolabe",`+
				`"detect":{"executable":"astrolabe"}}]}`), gardenConnector)
		g.install("desk", needing("desk", `{"bindings":{"filesystem":{"required":true}}}`), gardenConnector)
		g.install("quay", needing("quay", `{"bindings":{"interactive":{"required":true}}}`), gardenConnector)
		for _, id := range []string{"garden", "lantern", "harbour", "desk", "quay"} {
			g.connect(id, id)
		}
		g.connect("given", "garden")
		g.credential("given", "garden", map[string]string{"GARDEN_TOKEN": "trowel"})
		g.schedule("garden", time.Second)
		g.schedule("lantern", time.Second)
	}, func(t *testing.T, g *ground) {
		for id, want := range map[string]struct {
			of     health.ConditionType
			reason string
			action verdict.ActionKind
			cta    string
		}{
			"garden": {health.CredentialsValid, "credential_required", verdict.Reauth,
				"Add the credential that this source asks for"},
			"lantern": {health.RuntimeAvailable, "missing_browser_surface", verdict.AddInfo,
				"Install a browser on the machine that collects: sudo apt install chromium"},
			"harbour": {health.RuntimeAvailable, "external_tool_unavailable", verdict.AddInfo,
				"Install or start what the connector needs on this machine"},
		} {
			g.until(id+" is looked at", func() bool { return g.seen(id).Health.State == health.Blocked })
			c := g.seen(id)
			condition := c.Health.Condition(want.of)
			if condition.Status != health.False || condition.Reason != want.reason || condition.ObservedAt == nil ||
				condition.ExpiresAt == nil ||
				!condition.ExpiresAt.After(time.Now()) || condition.Remediation == nil {
				t.Errorf("%s: condition %+v of %+v", id, condition, condition.ConditionKind)
			}
			if a := c.Verdict.RequiredActions; len(a) == 0 || a[0].Kind != want.action ||
				a[0].Audience != verdict.AudienceOwner || a[0].CTA != want.cta {
				t.Errorf("%s: actions %+v", id, a)
			}
			if runs, err := g.st.ListRuns(t.Context(), store.RunQuery{ConnectionID: id}); err != nil || len(runs) != 0 {
				t.Errorf("%s was run: %+v, %v", id, runs, err)
			}
		}
		for _, id := range []string{"given", "desk", "quay"} {
			c := g.seen(id)
			if c.Health.State != health.Idle || c.Health.Condition(health.CredentialsValid).Status != health.StatusUnknown ||
				c.Health.Condition(health.RuntimeAvailable).Status == health.False {
				t.Errorf("%s: %s for %s", id, c.Health.State, c.Health.ReasonCode)
			}
		}
		// The owner stores what was asked for, and it is collected without further steps.
		g.credential("garden", "garden", map[string]string{"GARDEN_TOKEN": "trowel"})
		g.until("the first collection", func() bool { return g.seen("garden").Health.State == health.Healthy })
		// A worker with a browser comes.
		g.must(g.st.PutWorker(t.Context(), store.Worker{ID: "w2", Capabilities: []string{"browser"}, StartedAt: time.Now(),
			SeenAt: time.Now()}))
		g.schedule("lantern", 2*time.Second) // asks for a look
		g.until("the browser is found", func() bool {
			c := g.seen("lantern")
			return c.Health.Condition(health.RuntimeAvailable).Status == health.True
		})
	})
}
