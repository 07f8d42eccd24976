package runner

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

const checkpointMode = "checkpointed_streaming"

// cursorPending reports whether the stream has a cursor that is not durable.
func (c *committer) cursorPending(st *stream) bool {
	return len(st.staged) > 0 || st.moved && !c.cursors[st.name]
}

// checkpoint summarizes the run's cursors and records after the last commit.
func (s *session) checkpoint() Checkpoint {
	committer, counters := s.commits.committer, &s.counters
	c := Checkpoint{
		Mode: checkpointMode, CommitStatus: CommitNone, BufferedDropped: counters.dropped,
		RecordsAttempted: counters.records, RecordsAccepted: counters.records - counters.rejected,
		RecordsFlushed: committer.records.Load(), RecordsRejected: counters.rejected,
		Slices: committer.slices.Load(), StreamsStaged: []string{}, StreamsCommitted: []string{},
	}
	for _, st := range s.streams.order {
		if committer.cursorPending(st) {
			c.StreamsStaged = append(c.StreamsStaged, st.name)
		}
		if committer.cursors[st.name] {
			c.StreamsCommitted = append(c.StreamsCommitted, st.name)
		}
		if st.withheld {
			c.StreamsWithheld = append(c.StreamsWithheld, st.name)
		}
	}
	switch {
	case committer.failed.Load() != nil && len(c.StreamsCommitted) > 0:
		c.CommitStatus = CommitPartially
	case len(c.StreamsCommitted) > 0 && len(c.StreamsStaged) > 0:
		c.CommitStatus = CommitPartially
	case len(c.StreamsCommitted) > 0:
		c.CommitStatus = CommitFull
	}
	return c
}

// facts returns what the run measured per stream, or nil for a recovery-only run, which measures no whole stream.
func (s *session) facts() *CollectionFacts {
	if s.spec.RecoveryOnly {
		return nil
	}
	f := &CollectionFacts{SchemaVersion: 1, ReferenceOnly: true}
	committer := s.commits.committer
	for _, st := range s.streams.order {
		sf := StreamFacts{Stream: st.name, Collected: st.collected, Checkpoint: "none", PendingGaps: st.gaps,
			Skipped: st.skipped, Drift: st.drift}
		switch {
		case st.withheld:
			sf.Checkpoint = "withheld"
		case committer.cursorPending(st):
			sf.Checkpoint = "staged"
		case committer.cursors[st.name]:
			sf.Checkpoint = "committed"
		}
		sf.Considered, sf.Covered = measuredCount(st.considered), measuredCount(st.covered)
		sf.Scope = narrowedScope(st.Scope)
		f.Streams = append(f.Streams, sf)
	}
	return f
}

func measuredCount(c protocol.Count) *int64 {
	if !c.Measured {
		return nil
	}
	return &c.N
}

// narrowedScope describes a run that collects only part of a stream, so that its counts are not those of the whole
// stream. It returns nil for a whole stream. It does not contain the requested resources, which are private.
func narrowedScope(scope protocol.StreamScope) jsontext.Value {
	if len(scope.Resources) == 0 && scope.TimeRange == nil {
		return nil
	}
	raw, err := json.Marshal(struct {
		Resources bool                `json:"resources,omitzero"`
		TimeRange *protocol.TimeRange `json:"time_range,omitzero"`
	}{len(scope.Resources) > 0, scope.TimeRange}, json.Deterministic(true))
	if err != nil {
		return jsontext.Value(`{}`)
	}
	return raw
}
