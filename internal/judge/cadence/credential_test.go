package cadence_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/protocol"
)

// The scheduler blocks a connection because of its credential exactly if health reports the credential as blocking.
func TestCredentialRuleAgreesWithHealth(t *testing.T) {
	stored := func(status string, rejected *time.Time) func(*evidence.Evidence) {
		return func(e *evidence.Evidence) {
			e.Credential = &evidence.Credential{Status: status, CapturedAt: *cadence.At(-90 * time.Hour), RejectedAt: rejected}
		}
	}
	looked := func(s evidence.ProbeStatus, when time.Duration, expires *time.Time) func(*evidence.Evidence) {
		return func(e *evidence.Evidence) {
			e.Probes = append(e.Probes, evidence.Probe{Dimension: evidence.ProbeCredentials, Status: s, At: *cadence.At(when),
				ExpiresAt: expires})
		}
	}
	both := func(edits ...func(*evidence.Evidence)) func(*evidence.Evidence) {
		return func(e *evidence.Evidence) {
			for _, edit := range edits {
				edit(e)
			}
		}
	}
	replaced := func(e *evidence.Evidence) {
		e.Credential = &evidence.Credential{Status: evidence.CredentialActive, CapturedAt: *cadence.At(-time.Second)}
	}
	refused := cadence.Failed(evidence.Failure{Code: "auth_failure"})
	cases := map[string]struct {
		edit func(*evidence.Evidence)
		held bool
	}{
		"nothing stored":             {func(*evidence.Evidence) {}, false},
		"active":                     {stored(evidence.CredentialActive, nil), false},
		"revoked":                    {stored(evidence.CredentialRevoked, nil), true},
		"rejected":                   {stored(evidence.CredentialRejected, cadence.At(-time.Minute)), true},
		"rejected, nobody knows":     {stored(evidence.CredentialRejected, nil), true},
		"rejected before a success":  {stored(evidence.CredentialRejected, cadence.At(-3*time.Hour)), false},
		"rejected, success as old":   {stored(evidence.CredentialRejected, cadence.At(-110*time.Minute)), false},
		"look failed":                {looked(evidence.ProbeFailed, -time.Minute, nil), true},
		"look failed and expired":    {looked(evidence.ProbeFailed, -time.Minute, cadence.At(0)), false},
		"look failed before success": {looked(evidence.ProbeFailed, -3*time.Hour, nil), false},
		"look failed, then was good": {both(looked(evidence.ProbeFailed, -time.Hour, nil),
			looked(evidence.ProbeOK, -time.Minute, nil)), false},
		"look failed, then replaced": {both(looked(evidence.ProbeFailed, -time.Minute, nil), replaced), false},
		"run refused":                {refused, true},
		"run refused, then replaced": {both(refused, replaced), false},
		"run refused, then good":     {both(refused, looked(evidence.ProbeOK, -time.Minute, nil)), false},
		"run refused after good":     {both(refused, looked(evidence.ProbeOK, -3*time.Hour, nil)), true},
		"run asks for another": {cadence.Failed(evidence.Failure{Code: "plum_gate",
			Action: protocol.RefreshCredentials}), true},
		"run asks for something": {cadence.Failed(evidence.Failure{Code: "plum_gate",
			Action: protocol.ManualActionRequired}), false},
		"run fell over": {cadence.Failed(evidence.Failure{Reason: "connector_exit_without_done"}), false},
	}
	for _, code := range []string{"plum_session_required", "plum_session_failed", "auth_failure", "permission_error",
		"credentials_missing"} {
		c := cases["run refused"]
		c.edit = cadence.Failed(evidence.Failure{Code: code})
		cases["run failed with "+code] = c
	}
	for name, c := range cases {
		e := cadence.Ready()
		c.edit(e)
		if got := cadence.Decide(e, cadence.Noon).Why == cadence.CredentialRejected; got != c.held {
			t.Errorf("%s: held %v", name, got)
		}
		var blocked bool
		for _, condition := range health.Project(e, cadence.Noon).Snapshot.Conditions {
			if condition.Type == health.CredentialsValid {
				blocked = condition.Fails() && condition.Severity == health.BlockedSeverity
			}
		}
		if blocked != c.held {
			t.Errorf("%s: health says %v", name, blocked)
		}
	}
}
