package health

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// stalledRows maps each cause to its two conditions; the last row is for an unknown cause.
var stalledRows = []struct {
	cause             StalledCause
	exporter, backlog *ConditionKind
}{
	{StateReadFailed, exporterStateRead, outboxStateRead},
	{DeadLetterBacklog, exporterDeadLetters, outboxDeadLetters},
	{StalePending, exporterStalePending, outboxStalePending},
	{"", exporterStalled, outboxStalled},
}

func (r *reading) stalled() (exporter, backlog *ConditionKind) {
	for i := range stalledRows {
		if row := &stalledRows[i]; row.cause == r.outbox.Cause || row.cause == "" {
			return row.exporter, row.backlog
		}
	}
	return exporterStalled, outboxStalled
}

func (r *reading) localExporter() finding {
	c := exporterUnknown
	switch {
	case !r.LocalDevice():
		return exporterNotApplicable.observedAt(nil)
	case r.outbox.Axis == OutboxStalled:
		c, _ = r.stalled()
	case r.outbox.Axis == OutboxActive:
		c = exporterActive
	case r.outbox.Axis == OutboxIdle:
		c = exporterIdle
	}
	return c.observedAt(r.heartbeatAt())
}

func (r *reading) backlogClear() finding {
	c := outboxUnknown
	switch {
	case !r.LocalDevice():
		return outboxNotApplicable.observedAt(nil)
	case r.outbox.Axis == OutboxStalled:
		_, c = r.stalled()
	case r.outbox.Axis == OutboxActive:
		c = outboxActive
	case r.outbox.Axis == OutboxIdle:
		c = outboxIdle
	}
	return c.observedAt(r.heartbeatAt())
}

// coverageRows maps each value of the axis to its condition.
var coverageRows = map[Coverage]*ConditionKind{
	Complete: coverageComplete, Partial: coveragePartial, Gapped: coverageGaps, RetryableGap: coverageRetryable,
	TerminalGap: coverageTerminal, Deferred: coverageDeferred, InventoryOnly: coverageInventory,
	Unavailable: coverageAbsent, Unsupported: coverageUnsupport, CoverageUnknown: coverageUnknown,
}

func (r *reading) sourceCoverage() finding {
	row := coverageRows[r.coverage.axis]
	switch {
	case r.coverage.contradiction:
		row = coverageContradict
	case r.coverage.diagnosed && r.coverage.axis == Complete:
		row = coverageDiagnosed
	case r.coverage.axis == Complete &&
		slices.ContainsFunc(r.Streams, func(s evidence.Stream) bool { return s.SelfReported && s.Required }):
		row = coverageReported
	}
	f := row.observedAt(r.capturedAt)
	if r.LastRun != nil {
		f.observed = &r.LastRun.EndedAt
	}
	f.ofStreams = r.coverage.streams
	return f
}

func (r *reading) fresh() finding {
	switch {
	case r.freshness == Fresh:
		return freshNow.observedAt(r.capturedAt)
	case r.freshness == Stale && r.manualOnly:
		return staleManual.observedAt(r.capturedAt)
	case r.freshness == Stale:
		return staleData.observedAt(r.capturedAt)
	default:
		return freshnessUnknown.observedAt(r.capturedAt)
	}
}

// heartbeatAt returns when a trusted device last reported.
func (r *reading) heartbeatAt() *time.Time {
	var newest *time.Time
	if r.Device == nil {
		return nil
	}
	for i := range r.Device.Sources {
		if s := &r.Device.Sources[i]; s.Trusted() && s.Heartbeat != nil {
			newest = later(newest, &s.Heartbeat.At)
		}
	}
	return newest
}
