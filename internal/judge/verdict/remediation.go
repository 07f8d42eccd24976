package verdict

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// stalledUnknown is the cause of a stalled device that reported none.
const stalledUnknown health.StalledCause = "stalled_unknown"

// Command names for clients.
const (
	commandRun     = "local_collector_run"
	commandPreview = "local_collector_recover_preview"
	commandApply   = "local_collector_recover_apply"
	commandDoctor  = "local_collector_doctor"
)

const collector = "pdpp-local-collector "
const onInstance = " --source-instance-id " + SourceInstancePlaceholder

// The commands contain no address, secret, path or connection id: the collector finds them in the profile of the
// source instance.
var (
	runCollector    = Command{commandRun, sentence(labelRun), sentence(purposeRun), collector + "run" + onInstance}
	previewRecovery = Command{commandPreview, sentence(labelPreview), sentence(purposePreview), collector + "recover" +
		onInstance}
	applyRecovery = Command{commandApply, sentence(labelApply), sentence(purposeApply), collector + "recover" +
		onInstance +
		" --apply"}
	checkCollector = Command{commandDoctor, sentence(labelDoctor), sentence(purposeDoctor), collector + "doctor" +
		onInstance}
)

// recoveries lists what to do about each cause; the generic one is last.
var recoveries = [...]struct {
	Cause           health.StalledCause
	Label           sentenceID
	Summary         sentenceID
	TerminalSummary sentenceID
	Commands        []Command
}{
	{health.DeadLetterBacklog, ctaUploadFailed, sumUploadFailed, sumUploadFailedTerminal,
		[]Command{previewRecovery, applyRecovery}},
	{health.StateReadFailed, ctaRunCollector, sumStateRead, sumStateReadTerminal, []Command{runCollector}},
	{health.StalePending, ctaRunCollector, sumStalePending, sumStalePendingTerminal, []Command{runCollector}},
	{stalledUnknown, ctaCheckCollector, sumStalled, sumStalledTerminal, []Command{checkCollector}},
}

// recoveryOf returns the index of the recovery for the cause that the failing conditions name. The exporter condition
// comes before the backlog condition.
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
		Kind: "local_collector_recovery", Cause: string(c.Cause), Label: sentence(c.Label), Summary: sentence(summary),
		Target:   Target{Kind: "local_device", IdentitySource: "source_instance_bindings"},
		Commands: append([]Command(nil), c.Commands...),
	}
}
