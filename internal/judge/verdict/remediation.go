package verdict

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// stalledUnknown is the cause of a stalled device that gave none.
const stalledUnknown health.StalledCause = "stalled_unknown"

// The names of the commands, as surfaces know them.
const (
	commandRun     = "local_collector_run"
	commandPreview = "local_collector_recover_preview"
	commandApply   = "local_collector_recover_apply"
	commandDoctor  = "local_collector_doctor"
)

const collector = "pdpp-local-collector "
const onInstance = " --source-instance-id " + SourceInstancePlaceholder

// The commands carry no address, no secret, no path and no connection id: the
// collector finds all of it in the profile of the source instance.
var (
	runCollector    = Command{commandRun, say(labelRun), say(purposeRun), collector + "run" + onInstance}
	previewRecovery = Command{commandPreview, say(labelPreview), say(purposePreview), collector + "recover" + onInstance}
	applyRecovery   = Command{commandApply, say(labelApply), say(purposeApply), collector + "recover" + onInstance + " --apply"}
	checkCollector  = Command{commandDoctor, say(labelDoctor), say(purposeDoctor), collector + "doctor" + onInstance}
)

// recoveries are what to do about each cause, the generic one last.
var recoveries = [...]struct {
	Cause           health.StalledCause
	Label           line
	Summary         line
	TerminalSummary line
	Commands        []Command
}{
	{health.DeadLetterBacklog, ctaUploadFailed, sumUploadFailed, sumUploadFailedTerminal, []Command{previewRecovery, applyRecovery}},
	{health.StateReadFailed, ctaRunCollector, sumStateRead, sumStateReadTerminal, []Command{runCollector}},
	{health.StalePending, ctaRunCollector, sumStalePending, sumStalePendingTerminal, []Command{runCollector}},
	{stalledUnknown, ctaCheckCollector, sumStalled, sumStalledTerminal, []Command{checkCollector}},
}

// recoveryOf returns the index of the recovery for the cause that the current
// conditions name; the exporter's own word comes before the backlog's.
func recoveryOf(s *health.Snapshot) int {
	if i, found := recoveryFor(failing(s, health.LocalExporterAvailable), "local_exporter_"); found {
		return i
	}
	i, _ := recoveryFor(failing(s, health.BacklogClear), "outbox_")
	return i
}

func recoveryFor(c *health.Condition, prefix string) (index int, found bool) {
	generic := len(recoveries) - 1
	if c == nil {
		return generic, false
	}
	cause, _ := strings.CutPrefix(c.Reason, prefix)
	for i := range generic {
		if string(recoveries[i].Cause) == cause {
			return i, true
		}
	}
	return generic, false
}

func remediation(r *reading) *Remediation {
	c := &recoveries[recoveryOf(&r.in.Snapshot)]
	summary := c.Summary
	if r.terminal() {
		summary = c.TerminalSummary
	}
	return &Remediation{
		Kind: "local_collector_recovery", Cause: string(c.Cause), Label: say(c.Label), Summary: say(summary),
		Target:   Target{Kind: "local_device", IdentitySource: "source_instance_bindings"},
		Commands: append([]Command(nil), c.Commands...),
	}
}
