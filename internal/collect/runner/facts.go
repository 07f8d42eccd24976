package runner

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

const checkpointMode = "checkpointed_streaming"

// waits reports whether the stream has a cursor that is not durable.
func (s *session) waits(st *stream) bool {
	return len(st.staged) > 0 || st.moved && !s.committer.cursors[st.name]
}

// checkpoint sums up what became of the run's cursors, after the last commit.
func (s *session) checkpoint() Checkpoint {
	c := Checkpoint{
		Mode: checkpointMode, CommitStatus: CommitNone, BufferedDropped: s.dropped,
		RecordsAttempted: s.records, RecordsAccepted: s.records - s.rejected, RecordsFlushed: s.committer.records.Load(), RecordsRejected: s.rejected,
		Slices: s.committer.slices.Load(), StreamsStaged: []string{}, StreamsCommitted: []string{},
	}
	for _, st := range s.order {
		if s.waits(st) {
			c.StreamsStaged = append(c.StreamsStaged, st.name)
		}
		if s.committer.cursors[st.name] {
			c.StreamsCommitted = append(c.StreamsCommitted, st.name)
		}
		if st.withheld {
			c.StreamsWithheld = append(c.StreamsWithheld, st.name)
		}
	}
	switch {
	case s.committer.failed.Load() != nil && len(c.StreamsCommitted) > 0:
		c.CommitStatus = CommitPartially
	case len(c.StreamsCommitted) > 0 && len(c.StreamsStaged) > 0:
		c.CommitStatus = CommitPartially
	case len(c.StreamsCommitted) > 0:
		c.CommitStatus = CommitFull
	}
	return c
}

// facts is what the run measured per stream; a recovery-only run measured nothing of the whole.
func (s *session) facts() *Facts {
	if s.spec.RecoveryOnly {
		return nil
	}
	f := &Facts{SchemaVersion: 1, ReferenceOnly: true}
	for _, st := range s.order {
		sf := StreamFacts{Stream: st.name, Collected: st.collected, Checkpoint: "none", PendingGaps: st.gaps,
			Skipped: st.skipped, Drift: st.drift}
		switch {
		case st.withheld:
			sf.Checkpoint = "withheld"
		case s.waits(st):
			sf.Checkpoint = "staged"
		case s.committer.cursors[st.name]:
			sf.Checkpoint = "committed"
		}
		sf.Considered, sf.Covered = measured(st.considered), measured(st.covered)
		sf.Scope = narrowed(st.Scope)
		f.Streams = append(f.Streams, sf)
	}
	return f
}

func measured(c protocol.Count) *int64 {
	if !c.Measured {
		return nil
	}
	return &c.N
}

// narrowed says that the run was to collect some records of a stream alone, so that nothing
// that it measured is of the whole stream; nil when it was to collect all of them. Which
// ones they were is the owner's.
func narrowed(scope protocol.StreamScope) jsontext.Value {
	if len(scope.Resources) == 0 && scope.TimeRange == nil {
		return nil
	}
	said, err := json.Marshal(struct {
		Resources bool                `json:"resources,omitzero"`
		TimeRange *protocol.TimeRange `json:"time_range,omitzero"`
	}{len(scope.Resources) > 0, scope.TimeRange}, json.Deterministic(true))
	if err != nil {
		return jsontext.Value(`{}`)
	}
	return said
}
