package health

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
)

func TestStreamRollups(t *testing.T) {
	e := covered(Partial, Complete, Complete, Complete)
	e.Streams[2].Required = false
	e.Streams[3].Required, e.Streams[3].Policy = false, manifest.PolicyUnsupported
	e.Attention = []evidence.Attention{{Lifecycle: evidence.AttentionOpen}}
	e.Streams[1].Retained = num(900)
	e.Gaps.Groups = append(e.Gaps.Groups, evidence.GapGroup{Stream: e.Streams[2].Name, Count: 3},
		evidence.GapGroup{Stream: e.Streams[2].Name, Count: 4})
	want := []StreamRollup{
		{Priority: RequiredStream, Coverage: Partial, AttentionOpen: true},
		{Priority: RequiredStream, Coverage: Complete},
		{Priority: OptionalStream, Coverage: RetryableGap, MissingIsFloor: true, GapRetryable: true, AttentionOpen: true},
		{Priority: AcceptedAbsence, Coverage: Unsupported, AttentionOpen: true},
	}
	for i, got := range Project(e, noon).Streams {
		if got.StreamID != e.Streams[i].Name || *got.Considered != 4 || got.Collected == nil {
			t.Errorf("stream %d: %+v", i, got)
		}
		if missing := []*int64{num(1), num(0), num(7), nil}[i]; !same(got.Missing, missing) ||
			!same(got.Retained, e.Streams[i].Retained) {
			t.Errorf("stream %d has the counts %+v", i, got)
		}
		got.StreamID, got.Considered, got.Collected, got.Missing, got.Retained = "", nil, nil, nil, nil
		if got != want[i] {
			t.Errorf("stream %d: %+v, want %+v", i, got, want[i])
		}
	}
}

func same(a, b *int64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// Without a result from runs, a stream has the coverage of its own store.
func TestStreamsOfADevice(t *testing.T) {
	store := func(stream, status string) evidence.CoverageStore {
		return evidence.CoverageStore{Store: stream + status, Stream: stream, Status: status}
	}
	cases := []struct {
		name   string
		stores []evidence.CoverageStore
		want   Coverage
	}{
		{"all accounted for", []evidence.CoverageStore{store("other", "collected")}, Complete},
		{"its own is, another is not", []evidence.CoverageStore{store("notes", "collected"), store("other", "unaccounted")},
			Complete},
		{"its own is not", []evidence.CoverageStore{store("notes", "collected"), store("notes", "unaccounted")}, Gapped},
		{"nothing is said of its own", []evidence.CoverageStore{store("other", "unaccounted")}, CoverageUnknown},
		{"no account", nil, CoverageUnknown},
	}
	for _, c := range cases {
		e := &evidence.Evidence{
			Streams: []evidence.Stream{{Name: "notes", Required: true}}, Gaps: &evidence.Gaps{},
			Device: &evidence.Device{Stores: c.stores},
		}
		if got := Project(e, noon).Streams[0].Coverage; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestModeOfProgress(t *testing.T) {
	drains := func(e *evidence.Evidence) { e.LastRun.Committed, e.LastRun.Recovered = num(0), num(5) }
	cases := []struct {
		name string
		edit func(*evidence.Evidence)
		want Mode
	}{
		{"a schedule", func(*evidence.Evidence) {}, ModeScheduled},
		{"a schedule whose runs only fill gaps", drains, ModeDeferred},
		{"a run that filled gaps and brought records", func(e *evidence.Evidence) { drains(e); e.LastRun.Committed = num(1) },
			ModeScheduled},
		{"a run that did not count its records", func(e *evidence.Evidence) { drains(e); e.LastRun.Committed = nil },
			ModeScheduled},
		{"no schedule", func(e *evidence.Evidence) { drains(e); e.Schedule = nil }, ModeManual},
		{"a schedule that is off", func(e *evidence.Evidence) { e.Schedule.Enabled = false }, ModeManual},
		{"only the owner refreshes", func(e *evidence.Evidence) { e.Refresh.RecommendedMode = manifest.RefreshManual },
			ModeManual},
		{"a device", func(e *evidence.Evidence) { drains(e); e.Connection.SourceKind = evidence.SourceLocalDevice },
			ModeLocalDevice},
	}
	for _, c := range cases {
		e := good()
		c.edit(e)
		if got := Project(e, noon).Progress.Mode; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
