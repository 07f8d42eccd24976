package service

import (
	"context"
	"fmt"
	"slices"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/view"
)

// fileWatch adds to the evidence whether the file of a source is the one that the owner accepted. It reads the file at
// each look, so that a source counts as stopped as soon as its file is edited, and not from its next run on.
type fileWatch struct {
	view.EvidenceReader
	config *Config
	find   catalog.Finder
}

func (f fileWatch) Evidence(ctx context.Context, q evidence.Query) ([]evidence.Evidence, error) {
	all, err := f.EvidenceReader.Evidence(ctx, q)
	if err != nil {
		return nil, err
	}
	files, err := f.config.Connectors.SourceFiles()
	if err != nil {
		return nil, fmt.Errorf("list the source files: %w", err)
	}
	for i := range all {
		c := &all[i].Connection
		if c.Status == evidence.StatusRevoked || !slices.Contains(files, c.ConnectorID) {
			continue
		}
		found, err := f.find.Find(ctx, c.ConnectorID)
		if err != nil || !found.Declared {
			continue // a run reports what is wrong
		}
		lack, err := launch.Unconfirmed(ctx, f.config.Store, found)
		if err != nil {
			continue // as above
		}
		f.setConfirmation(&all[i], lack)
	}
	return all, nil
}

// setConfirmation replaces what was found earlier of the owner's confirmation.
func (f fileWatch) setConfirmation(e *evidence.Evidence, lack *catalog.NeedError) {
	others := slices.DeleteFunc(slices.Clone(e.Probes), func(p evidence.Probe) bool {
		return p.Dimension == evidence.ProbeConfirmation
	})
	probe := evidence.Probe{Dimension: evidence.ProbeConfirmation, Name: e.Connection.ConnectorID,
		Status: evidence.ProbeOK, At: f.config.Now()}
	if lack != nil {
		probe.Status, probe.Reason = evidence.ProbeFailed, evidence.ReasonUnconfirmed
	}
	refused := e.LastRun != nil && e.LastRun.FailedWithout(&probe)
	if lack != nil || refused || len(others) < len(e.Probes) {
		e.Probes = append(others, probe)
	}
}
