package collector

import (
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// coverageStream is where connectors account for the stores that they know.
const coverageStream = "coverage_diagnostics"

// coverage is how a run accounted for the stores of each stream.
type coverage struct {
	declared map[string]bool
	stores   map[string]covered // by the record's key
}

type covered struct {
	Stream string `json:"stream"`
	Status string `json:"status"`
}

func newCoverage(m *manifest.Manifest) *coverage {
	c := &coverage{declared: map[string]bool{}, stores: map[string]covered{}}
	for i := range m.Streams {
		c.declared[m.Streams[i].Name] = true
	}
	return c
}

// take stores the status that coverage records report for declared streams. It ignores records that it
// cannot parse.
func (c *coverage) take(records []slice.Record) {
	for i := range records {
		r := &records[i]
		var known covered
		if r.Stream == coverageStream && json.Unmarshal(r.Data, &known) == nil && c.declared[known.Stream] &&
			known.Status != "" {
			c.stores[r.Key] = known
		}
	}
}

// facts are the statuses of each stream's stores, and how answers differed by stream.
func (c *coverage) facts(drift map[string]*protocol.AnswerDrift) (out []wire.TerminalFact) {
	statuses := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(c.stores)) {
		s := c.stores[key]
		statuses[s.Stream] = append(statuses[s.Stream], s.Status)
	}
	for stream := range drift {
		if statuses[stream] == nil {
			statuses[stream] = []string{}
		}
	}
	for _, stream := range slices.Sorted(maps.Keys(statuses)) {
		out = append(out, wire.TerminalFact{Stream: stream, CoverageStatuses: statuses[stream], AnswerDrift: drift[stream]})
	}
	return out
}

// commitTerminal sends the end of the run and its stream coverage to the server after every upload has
// arrived. The cursors arrived earlier, together with their records. A server without this capability
// learns of the end from the heartbeat, and of the coverage from its records.
func (p *pass) commitTerminal(ctx context.Context) error {
	if !p.can(wire.CanTerminalFacts) || p.coverage == nil || p.report.Run == nil ||
		p.report.Run.Status != runner.Succeeded || p.report.Uploaded.Batches == 0 {
		return nil
	}
	counts, err := p.counts(ctx)
	if err != nil {
		return err
	}
	if !p.can(wire.CanAnswerDrift) {
		p.drift = nil
	}
	facts := p.coverage.facts(p.drift)
	if counts.Total > counts.Succeeded || len(facts) == 0 {
		return nil
	}
	_, err = p.client.CommitTerminal(ctx, wire.TerminalCommit{
		Version: 1, CommitID: "commit_" + p.runID, RunID: p.runID, DeviceID: p.c.Profile.DeviceID,
		SourceInstanceID: p.c.Profile.SourceInstanceID,
		ConnectorID:      p.c.Profile.ConnectorID, ConnectorInstanceID: p.server.ConnectorInstanceID,
		StateDelta: map[string]jsontext.Value{}, TerminalFacts: facts,
	})
	p.refused(err)
	return nil
}
