package verdict

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

func TestDeferredNeverShowsAStructuralZero(t *testing.T) {
	t.Attr("spec", "CH-30.1")
	in := healthy(func(in *Input) {
		in.Progress.Mode = health.ModeDeferred
		in.Progress.RecordsCommittedLastRun = ptr[int64](0)
		in.Progress.GapsDrainedLastRun = ptr[int64](14)
	})
	p := judge(t, in).Progress
	if p.Mode != health.ModeDeferred || *p.GapsDrainedLastRun != 14 || *p.RetainedRecords != 1204 ||
		p.RecordsCommittedLastRun != nil {
		t.Errorf("progress %+v", p)
	}
	if p.Headline != "1,204 records held, and the last run filled in 14 earlier items" {
		t.Errorf("headline %q", p.Headline)
	}
}

func TestScheduledPrivilegesWhatTheRunCommitted(t *testing.T) {
	t.Attr("spec", "CH-30.2")
	p := judge(t, healthy()).Progress
	if p.Mode != health.ModeScheduled || *p.RecordsCommittedLastRun != 12 ||
		p.Headline != "12 records collected by the last run" {
		t.Errorf("progress %+v", p)
	}
}

func TestHeadlineOfEachMode(t *testing.T) {
	t.Attr("spec", "CH-30")
	n := ptr[int64]
	terminal := gap(health.TerminalGap, health.DispositionTerminal)
	for want, in := range map[string]struct {
		evidence health.ProgressEvidence
		change   func(*Input)
	}{
		"1 record collected by the last run": {health.ProgressEvidence{Mode: health.ModeScheduled,
			RecordsCommittedLastRun: n(1)}, nil},
		"The last run found no new records": {health.ProgressEvidence{Mode: health.ModeScheduled,
			RecordsCommittedLastRun: n(0)}, nil},
		"1,234,567 records held": {health.ProgressEvidence{Mode: health.ModeScheduled,
			RetainedRecords: n(1234567)}, nil},
		"Progress not measured yet": {health.ProgressEvidence{Mode: health.ModeScheduled},
			nil},
		"The last run filled in 1 earlier item": {health.ProgressEvidence{Mode: health.ModeDeferred,
			GapsDrainedLastRun: n(1)}, nil},
		"5 records held": {health.ProgressEvidence{Mode: health.ModeDeferred,
			RetainedRecords: n(5), GapsDrainedLastRun: n(0)}, nil},
		"No records held yet": {health.ProgressEvidence{Mode: health.ModeDeferred,
			RetainedRecords: n(0)}, nil},
		"5 records held from the device": {health.ProgressEvidence{Mode: health.ModeLocalDevice,
			RetainedRecords: n(5)}, nil},
		"7 records held, last refreshed 4 days ago": {health.ProgressEvidence{Mode: health.ModeManual,
			RetainedRecords: n(7), LastRefreshedAt: daysAgo(4), ObservedAt: &observed}, nil},
		"Last refreshed yesterday": {health.ProgressEvidence{Mode: "no_such_mode",
			LastRefreshedAt: daysAgo(1), ObservedAt: &observed}, nil},
		"8 records held": {health.ProgressEvidence{Mode: health.ModeManual,
			RetainedRecords: n(8), LastRefreshedAt: daysAgo(4), ObservedAt: &observed}, terminal},
		"9 records held, and the last run filled in 2 earlier items": {health.ProgressEvidence{Mode: health.ModeDeferred,
			RetainedRecords: n(9), GapsDrainedLastRun: n(2)}, terminal},
		"10 records held": {health.ProgressEvidence{Mode: health.ModeManual,
			RetainedRecords: n(10)}, nil},
	} {
		t.Run(want, func(t *testing.T) {
			given := healthy(func(i *Input) { i.Progress, i.Snapshot.LastSuccessAt = &in.evidence, nil })
			if in.change != nil {
				in.change(&given)
			}
			if got := judge(t, given).Progress.Headline; got != want {
				t.Errorf("headline %q", got)
			}
		})
	}
	if p := judge(t, healthy(func(in *Input) { in.Progress = nil })).Progress; p.Mode != health.ModeManual ||
		p.Headline != "Progress not measured yet" || p.RetainedRecords != nil {
		t.Errorf("progress without evidence %+v", p)
	}
}
