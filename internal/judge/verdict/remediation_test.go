package verdict

import (
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// ownerText is all that the owner reads of the primary action.
func ownerText(v Verdict) string {
	a := v.RequiredActions[0]
	text := []string{v.ForwardStatement, a.CTA, a.Remediation.Label, a.Remediation.Summary}
	for _, c := range a.Remediation.Commands {
		text = append(text, c.Label, c.Purpose)
	}
	return strings.Join(text, "\n")
}

func commandKinds(v Verdict) (kinds []string) {
	for _, c := range v.RequiredActions[0].Remediation.Commands {
		kinds = append(kinds, c.Kind)
	}
	return kinds
}

func TestStalledDeviceIsNeverCalmOrNormal(t *testing.T) {
	t.Attr("spec", "CH-23.6")
	for _, reason := range []string{
		"", "local_exporter_stalled", "local_exporter_state_read_failed", "outbox_dead_letter_backlog",
		"outbox_stale_pending",
	} {
		v := judge(t, healthy(stalled(reason)))
		wantChannel(t, v, Attention)
		wantPill(t, v, Amber, "Degraded")
		a := v.RequiredActions[0]
		if a.Audience != AudienceOwner || a.Kind != AddInfo || a.SatisfiedWhen.Kind != AttentionResolved ||
			a.Remediation == nil {
			t.Errorf("%s: action %+v", reason, a)
		}
		wantNone(t, v.ForwardStatement, "up to date", "current", "normal", "automatically", "collecting")
	}
	// The axis is enough, whatever the headline.
	wantChannel(t, judge(t, healthy(stalled(""), state(health.Healthy))), Attention)
}

func TestStateReadFailureAsksForARunOnly(t *testing.T) {
	t.Attr("spec", "CH-23.7")
	for _, reason := range []string{"local_exporter_state_read_failed", "outbox_state_read_failed"} {
		v := judge(t, healthy(stalled(reason)))
		a := v.RequiredActions[0]
		if a.CTA != "Run the collector again on the host that holds the data" || a.Remediation.Cause != "state_read_failed" {
			t.Errorf("action %+v", a)
		}
		if !slices.Equal(commandKinds(v), []string{"local_collector_run"}) {
			t.Errorf("commands %v", commandKinds(v))
		}
		wantNone(t, ownerText(v), "dead", "letter", "retry", "requeue", "failed upload")
	}
}

func TestFailedUploadsAreShownThenSent(t *testing.T) {
	t.Attr("spec", "CH-23.8")
	for _, reason := range []string{"local_exporter_dead_letter_backlog", "outbox_dead_letter_backlog"} {
		v := judge(t, healthy(stalled(reason)))
		a := v.RequiredActions[0]
		if a.Remediation.Cause != "dead_letter_backlog" {
			t.Errorf("cause %s", a.Remediation.Cause)
		}
		if !slices.Equal(commandKinds(v), []string{"local_collector_recover_preview", "local_collector_recover_apply"}) {
			t.Errorf("commands %v", commandKinds(v))
		}
		preview, apply := a.Remediation.Commands[0], a.Remediation.Commands[1]
		if strings.Contains(preview.Template, "--apply") || !strings.HasSuffix(apply.Template, " --apply") {
			t.Errorf("templates %q, %q", preview.Template, apply.Template)
		}
		if apply.Purpose != "Puts the failed uploads back in line and runs the collector once." {
			t.Errorf("purpose %q", apply.Purpose)
		}
		for _, text := range []string{a.CTA, v.ForwardStatement, a.Remediation.Summary} {
			if !strings.Contains(text, "ecords saved on the host") || !strings.Contains(text, "did not upload to the server") {
				t.Errorf("%q does not say what happened", text)
			}
		}
		wantNone(t, ownerText(v), "dead-letter", "dead letter", "outbox")
	}
}

func TestStalePendingAsksForARun(t *testing.T) {
	t.Attr("spec", "CH-23.12")
	for _, reason := range []string{"local_exporter_stale_pending", "outbox_stale_pending"} {
		v := judge(t, healthy(stalled(reason)))
		if cause := v.RequiredActions[0].Remediation.Cause; cause != "stale_pending" {
			t.Errorf("cause %s", cause)
		}
		if !slices.Equal(commandKinds(v), []string{"local_collector_run"}) {
			t.Errorf("commands %v", commandKinds(v))
		}
	}
}

func TestCauseOfAStalledDevice(t *testing.T) {
	both := healthy(stalled("local_exporter_stale_pending"),
		fails(health.BacklogClear, health.Error, "outbox_dead_letter_backlog"))
	expired := healthy(stalled("local_exporter_dead_letter_backlog"))
	for i := range expired.Snapshot.Conditions {
		expired.Snapshot.Conditions[i].Current = false
	}
	for name, c := range map[string]struct {
		in    Input
		cause string
	}{
		"the exporter's word comes first": {both, "stale_pending"},
		"expired conditions do not count": {expired, "stalled_unknown"},
		"no condition":                    {healthy(stalled("")), "stalled_unknown"},
		"a reason that is not known":      {healthy(stalled("local_exporter_sleepy")), "stalled_unknown"},
		"a generic exporter and a specific backlog": {
			healthy(stalled("local_exporter_stalled"), fails(health.BacklogClear, health.Error, "outbox_stale_pending")),
			"stale_pending"},
	} {
		v := judge(t, c.in)
		if got := v.RequiredActions[0].Remediation.Cause; got != c.cause {
			t.Errorf("%s: %s, want %s", name, got, c.cause)
		}
	}
	idle := healthy(stalled("local_exporter_dead_letter_backlog"),
		func(in *Input) { in.Snapshot.Axes.Outbox = health.OutboxIdle })
	for _, a := range judge(t, idle).RequiredActions {
		if a.Remediation != nil {
			t.Error("a cause without a stalled device gives a recovery")
		}
	}
}

func TestCommandsNameOnlyTheSourceInstance(t *testing.T) {
	for _, rec := range recoveries {
		for _, c := range rec.Commands {
			if !strings.HasPrefix(c.Template, "pdpp-local-collector ") ||
				!strings.Contains(c.Template, "--source-instance-id <source-instance-id>") {
				t.Errorf("template %q", c.Template)
			}
			wantNone(t, c.Template, "http", "token", "connection", "/", "=")
			if c.Label == "" || c.Purpose == "" {
				t.Errorf("%s has no purpose", c.Kind)
			}
		}
	}
	target := judge(t, healthy(stalled(""))).RequiredActions[0].Remediation.Target
	if target != (Target{"local_device", "source_instance_bindings"}) {
		t.Errorf("target %+v", target)
	}
}

func TestStalledAndTerminalAsksBothAndPromisesNothing(t *testing.T) {
	for _, rec := range recoveries {
		v := judge(t, healthy(stalled("outbox_"+string(rec.Cause)), gap(health.TerminalGap, health.DispositionTerminal)))
		wantActions(t, v, AddInfo, CodeFix)
		if !v.RequiredActions[0].Terminal || v.ForwardStatement != v.RequiredActions[0].Remediation.Summary {
			t.Errorf("verdict %+v", v)
		}
		if !strings.Contains(v.ForwardStatement, "needs a code fix") {
			t.Errorf("statement %q", v.ForwardStatement)
		}
		if *v.Streams[0].ActionRef != 1 || *v.Streams[1].ActionRef != 0 {
			t.Error("the lost stream does not point at the fix")
		}
	}
}

func TestStalledAndAskedKeepsBoth(t *testing.T) {
	v := judge(t, healthy(stalled("outbox_stale_pending"),
		func(in *Input) { in.Snapshot.Axes.Attention = health.AttentionOpen }))
	wantActions(t, v, AddInfo, AddInfo)
	if v.RequiredActions[0].Remediation == nil || v.RequiredActions[1].Remediation != nil {
		t.Errorf("actions %+v", v.RequiredActions)
	}
}
