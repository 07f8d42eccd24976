package health

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// failedRun makes the newest run fail half an hour ago, after the success of an hour ago.
func failedRun(f evidence.Failure) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) {
		e.LastRun.Status, e.LastRun.EndedAt, e.LastRun.Failure = evidence.RunFailed, noon.Add(-30*time.Minute), &f
	}
}

func looked(d evidence.Dimension, name string, s evidence.ProbeStatus, age time.Duration) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) {
		e.Probes = append(e.Probes, evidence.Probe{Dimension: d, Name: name, Status: s, At: noon.Add(-age)})
	}
}

func stored(status string, captured time.Duration, rejected *time.Time) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) {
		e.Credential = &evidence.Credential{Status: status, CapturedAt: noon.Add(-captured), RejectedAt: rejected}
	}
}

// ends is a credential of a certain life that ended so long ago, and cannot be extended.
func ends(ago, life time.Duration) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) {
		end := noon.Add(-ago)
		e.Credential = &evidence.Credential{Status: evidence.CredentialActive, CapturedAt: end.Add(-life), EndsAt: &end}
	}
}

func TestReadiness(t *testing.T) {
	const day = 24 * time.Hour
	type edits = []func(*evidence.Evidence)
	auth := failedRun(evidence.Failure{Code: "auth_failure"})
	noBrowser := failedRun(evidence.Failure{Reason: "runtime_binding_missing",
		Message: "Runtime cannot satisfy required binding: browser"})
	noFiles := failedRun(evidence.Failure{Reason: "files_missing",
		Message: "TIDE_DIR names /somewhere, which is not there"})
	credential := evidence.ProbeCredentials
	cases := []struct {
		name  string
		edits edits
		about ConditionType
		want  string // reason
	}{
		{"a run succeeded", nil, CredentialsValid, "credentials_accepted"},
		{"rejected since", edits{stored("rejected", day, at(-time.Minute))}, CredentialsValid, "credential_rejected"},
		{"rejected at the very success", edits{stored("rejected", day, at(-time.Hour))}, CredentialsValid,
			"credentials_accepted"},
		{"rejected at an unknown time", edits{stored("rejected", day, nil)}, CredentialsValid, "credential_rejected"},
		{"revoked", edits{stored("revoked", day, nil)}, CredentialsValid, "credential_required"},
		{"replaced since the success", edits{stored("active", time.Minute, nil)}, CredentialsValid, "credentials_not_probed"},
		{"a look failed", edits{looked(credential, "", evidence.ProbeFailed, time.Minute)}, CredentialsValid,
			"credential_rejected"},
		{"a look failed before the success", edits{looked(credential, "", evidence.ProbeFailed, 2*time.Hour)},
			CredentialsValid, "credentials_accepted"},
		{"a look failed before the credential was replaced",
			edits{looked(credential, "", evidence.ProbeFailed, 10*time.Minute), stored("active", time.Minute, nil)},
			CredentialsValid, "credentials_not_probed"},
		{"a run was turned away", edits{auth}, CredentialsValid, "credential_rejected"},
		{"a run had none", edits{failedRun(evidence.Failure{Code: "credentials_missing"})}, CredentialsValid,
			"credential_required"},
		{"a run lost its session", edits{failedRun(evidence.Failure{Code: "mail_session_required"})}, CredentialsValid,
			"credential_rejected"},
		{"a run asks for a new one", edits{failedRun(evidence.Failure{Code: "odd", Action: protocol.RefreshCredentials})},
			CredentialsValid, "credential_rejected"},
		{"a run failed over something else", edits{failedRun(evidence.Failure{Code: "network_error"})}, CredentialsValid,
			"credentials_not_probed"},
		{"turned away, and found good since", edits{auth, looked(credential, "", evidence.ProbeOK, time.Minute)},
			CredentialsValid, "credentials_accepted"},
		{"turned away after it was found good", edits{auth, looked(credential, "", evidence.ProbeOK, 40*time.Minute)},
			CredentialsValid, "credential_rejected"},
		{"turned away, and replaced since", edits{auth, stored("active", time.Minute, nil)}, CredentialsValid,
			"credentials_not_probed"},

		{"none is stored", nil, CredentialContinuity, "credential_not_stored"},
		{"used by a run", edits{stored("active", day, nil)}, CredentialContinuity, "credential_continuity_proven"},
		{"not used yet", edits{stored("active", time.Minute, nil)}, CredentialContinuity, "credential_continuity_unproven"},
		{"ends in two weeks and a minute", edits{ends(-14*day-time.Minute, 400*day)}, CredentialContinuity,
			"credential_continuity_proven"},
		{"ends in two weeks", edits{ends(-14*day, 400*day)}, CredentialContinuity, "credential_ending"},
		{"ends in three days", edits{ends(-3*day, 400*day)}, CredentialContinuity, "credential_last_days"},
		{"a short one in its last part", edits{ends(-30*time.Minute, 130*time.Minute)}, CredentialContinuity,
			"credential_ending"},
		{"a short one in its last moments", edits{ends(-15*time.Minute, 130*time.Minute)}, CredentialContinuity,
			"credential_last_days"},
		{"a short one that is new", edits{ends(-40*time.Minute, 130*time.Minute)}, CredentialContinuity,
			"credential_continuity_proven"},
		{"it has ended", edits{ends(0, 400*day)}, CredentialsValid, "credential_rejected"},
		{"it ends in a moment", edits{ends(-time.Second, 400*day)}, CredentialsValid, "credentials_accepted"},
		{"nothing ever succeeded", edits{stored("active", day, nil), never}, CredentialContinuity, "credential_not_stored"},

		{"a run succeeded", nil, RuntimeAvailable, "runtime_available"},
		{"nothing ran", edits{never}, RuntimeAvailable, "runtime_state_unknown"},
		{"nothing ran, and a look was good",
			edits{never, looked(evidence.ProbeRuntime, "network", evidence.ProbeOK, time.Minute)}, RuntimeAvailable,
			"runtime_available"},
		{"no browser", edits{looked(evidence.ProbeRuntime, "browser", evidence.ProbeFailed, time.Minute)}, RuntimeAvailable,
			"missing_browser_surface"},
		{"no browser before the success", edits{looked(evidence.ProbeRuntime, "browser", evidence.ProbeFailed, 2*time.Hour)},
			RuntimeAvailable, "runtime_available"},
		{"no tool", edits{looked(evidence.ProbeTool, "ffmpeg", evidence.ProbeFailed, time.Minute)}, RuntimeAvailable,
			"external_tool_unavailable"},
		{"a run had no browser", edits{noBrowser}, RuntimeAvailable, "missing_browser_surface"},
		{"a run had no browser, and one was found since",
			edits{noBrowser, looked(evidence.ProbeRuntime, "browser", evidence.ProbeOK, time.Minute)}, RuntimeAvailable,
			"runtime_available"},
		{"a run had no browser, and something else was found since",
			edits{noBrowser, looked(evidence.ProbeRuntime, "network", evidence.ProbeOK, time.Minute)}, RuntimeAvailable,
			"missing_browser_surface"},
		{"the connector did not start", edits{failedRun(evidence.Failure{Reason: "connector_spawn_failed"})},
			RuntimeAvailable, "runtime_unavailable"},
		{"no interpreter", edits{looked(evidence.ProbeInterpreter, "python3", evidence.ProbeFailed, time.Minute)},
			RuntimeAvailable, "interpreter_missing"},
		{"a variable is unset", edits{looked(evidence.ProbeVariable, "TIDE_STATION", evidence.ProbeFailed, time.Minute)},
			RuntimeAvailable, "variable_unset"},
		{"no files", edits{looked(evidence.ProbeFiles, "TIDE_DIR", evidence.ProbeFailed, time.Minute)}, RuntimeAvailable,
			"files_missing"},
		{"a run found no files", edits{noFiles}, RuntimeAvailable, "files_missing"},
		{"a run did not know where files are",
			edits{failedRun(evidence.Failure{Reason: "files_missing", Message: "TIDE_DIR is not set"})}, RuntimeAvailable,
			"files_unnamed"},
		{"a run had no variable", edits{failedRun(evidence.Failure{Reason: "variable_unset",
			Message: "TIDE_STATION is not set"})}, RuntimeAvailable, "variable_unset"},
		{"a run had no interpreter",
			edits{failedRun(evidence.Failure{Reason: "interpreter_missing", Message: "deno starts it"})}, RuntimeAvailable,
			"interpreter_missing"},
		{"a run found no files, and they were found since",
			edits{noFiles, looked(evidence.ProbeFiles, "TIDE_DIR", evidence.ProbeOK, time.Minute)}, RuntimeAvailable,
			"runtime_state_unknown"},
		{"a run found no files, and others were found since",
			edits{noFiles, looked(evidence.ProbeFiles, "OTHER_DIR", evidence.ProbeOK, time.Minute)}, RuntimeAvailable,
			"files_missing"},
		{"devices do the work", edits{never, func(e *evidence.Evidence) { e.Device = &evidence.Device{} }}, RuntimeAvailable,
			"runtime_not_managed"},
	}
	for _, c := range cases {
		e := good()
		for _, edit := range c.edits {
			edit(e)
		}
		a := Project(e, noon)
		if got := a.Snapshot.Condition(c.about).Reason; got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.name, c.about, got, c.want)
		}
	}
}

// What is lacking is named where a name is safe to show, in what happened and in what to do.
func TestWhatIsLackingIsNamed(t *testing.T) {
	for name, want := range map[string][2]string{
		"TIDE_DIR": {"The connector reads files from the folder in TIDE_DIR, and they are not there.",
			"Put the files into the folder in TIDE_DIR"},
		"ghp_0a1b2c3d4e5f": {"The connector reads files from the folder in what it needs, and they are not there.",
			"Put the files into the folder in what it needs"},
		"": {"The connector reads files from the folder in what it needs, and they are not there.",
			"Put the files into the folder in what it needs"},
	} {
		e := good()
		looked(evidence.ProbeFiles, name, evidence.ProbeFailed, time.Minute)(e)
		a := Project(e, noon)
		c := a.Snapshot.Condition(RuntimeAvailable)
		if c.Message != want[0] || c.Remediation.Label != want[1] {
			t.Errorf("%q: %q, %q", name, c.Message, c.Remediation.Label)
		}
	}
	e := good()
	e.Connection.ConnectorID = "tides"
	looked(evidence.ProbeInterpreter, "python3", evidence.ProbeFailed, time.Minute)(e)
	a := Project(e, noon)
	if c := a.Snapshot.Condition(RuntimeAvailable); c.Remediation.Label != "Install python3, or set its path: pdpp "+
		"connectors set tides --path PATH" {
		t.Errorf("%q", c.Remediation.Label)
	}
}
