package serve

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// refusingConnector is a real process that ends with the failure that follows the
// first dash of its token.
const refusingConnector = `#!/bin/sh
read -r start
printf '%s\n' '{"type":"DONE","status":"failed","records_emitted":0,"error":{"code":"'"${GARDEN_TOKEN#*-}"'","message":"it was refused","retryable":false}}'
exit 1
`

// A run that ends over its credential, by whichever name the connector has for
// it, blocks its connection until the owner has reconnected it: no second run asks
// the source the same. One that ends over the source's troubles does not.
func TestCredentialFaultBlocks(t *testing.T) {
	t.Attr("spec", "CH-01.1")
	refused := []string{"http_401", "invalid_grant", "session_expired", "stored_credential_rejected"}
	passing := "auth_unavailable"
	onBoth(t, func(g *ground) {
		g.install("garden", gardenManifest, refusingConnector)
		for _, code := range append([]string{passing}, refused...) {
			g.connect(code, "garden")
			g.credential(code, "garden", map[string]string{"GARDEN_TOKEN": "spade-" + code})
			g.schedule(code, time.Second)
		}
	}, func(t *testing.T, g *ground) {
		g.until("two runs against a source in trouble", func() bool {
			runs, err := g.st.ListRuns(t.Context(), store.RunQuery{ConnectionID: passing})
			g.must(err)
			return len(runs) > 1 && runs[0].CompletedAt != nil
		})
		for _, code := range refused {
			// The credential is rejected after the run has ended.
			g.until(code+" has ended", func() bool {
				kept, err := g.st.Credential(t.Context(), code)
				g.must(err)
				return g.seen(code).LastRun != nil && kept.Status == store.CredentialRejected
			})
			c := g.seen(code)
			condition := c.Health.Condition(health.CredentialsValid)
			if condition.Status != health.False || condition.Severity != health.BlockedSeverity ||
				condition.Reason != "credential_rejected" ||
				condition.ReasonCode == "" || condition.Message == "" || condition.Origin == "" || condition.ObservedAt == nil ||
				condition.Remediation == nil || condition.Remediation.Action != health.RefreshCredentials {
				t.Errorf("%s: condition %+v", code, condition)
			}
			v := c.Verdict
			if c.Health.State != health.Blocked || v.Channel != verdict.Attention || len(v.RequiredActions) == 0 ||
				v.RequiredActions[0].Kind != verdict.Reauth {
				t.Errorf("%s: %s, %+v", code, c.Health.State, v)
			}
			if kept, err := g.st.Credential(t.Context(), code); err != nil || kept.Status != store.CredentialRejected ||
				kept.RejectionReason != code {
				t.Errorf("%s: the stored credential is %s for %q, %v", code, kept.Status, kept.RejectionReason, err)
			}
			if runs, err := g.st.ListRuns(t.Context(), store.RunQuery{ConnectionID: code}); err != nil || len(runs) != 1 {
				t.Errorf("%s: %d runs, %v", code, len(runs), err)
			}
		}
		if c := g.seen(passing); c.Health.State == health.Blocked ||
			c.Health.Condition(health.CredentialsValid).Status == health.False {
			t.Errorf("%s: %s, %+v", passing, c.Health.State, c.Health.Condition(health.CredentialsValid))
		}
	})
}
