package devices

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// DeviceDiagnostics returns what the sources of all devices counted, covered and missed.
func (s *Registry) DeviceDiagnostics(ctx context.Context) ([]api.DeviceDiagnosis, error) {
	devices, err := s.Devices(ctx)
	if err != nil {
		return nil, err
	}
	sources, err := s.store.DeviceSources(ctx, "")
	if err != nil {
		return nil, faults.OwnerError(err, "list the sources of devices")
	}
	of := map[string][]api.SourceDiagnosis{}
	for _, src := range sources {
		d, err := s.diagnoseSource(ctx, src)
		if err != nil {
			return nil, err
		}
		of[src.DeviceID] = append(of[src.DeviceID], d)
	}
	out := make([]api.DeviceDiagnosis, len(devices))
	for i, d := range devices {
		out[i] = api.DeviceDiagnosis{Device: d, Diagnostics: append([]api.SourceDiagnosis{}, of[d.ID]...)}
	}
	return out, nil
}

func (s *Registry) diagnoseSource(ctx context.Context, src store.DeviceSource) (api.SourceDiagnosis, error) {
	d := api.SourceDiagnosis{SourceID: src.ID, ConnectionID: src.ConnectionID, MaxBatchSeq: src.MaxBatchSeq,
		Coverage: []api.SourceCoverage{}}
	runs, err := s.store.ListRuns(ctx, store.RunQuery{ConnectionID: src.ConnectionID, Limit: 1})
	if err != nil {
		return d, faults.OwnerError(err, "find the last run")
	}
	for _, run := range runs {
		d.LastRunID, d.LastRun = run.ID, string(run.Status)
	}
	found, err := s.evidence.Evidence(ctx, evidence.Query{ConnectionIDs: []string{src.ConnectionID}})
	if err != nil {
		return d, faults.OwnerError(err, "read evidence")
	}
	for i := range found {
		addEvidence(&d, &found[i])
	}
	return d, nil
}

// addEvidence adds the evidence of the source's connection.
func addEvidence(d *api.SourceDiagnosis, e *evidence.Evidence) {
	if e.Device != nil {
		d.LastUploadAt = e.Device.LastIngestAt
		for _, c := range e.Device.Stores {
			d.Coverage = append(d.Coverage, api.SourceCoverage{Store: c.Store, Stream: c.Stream, Status: c.Status})
		}
	}
	if e.Gaps != nil {
		d.Gaps, d.GapsForGood = []api.SourceGapCount{}, e.Gaps.Terminal
		for _, g := range e.Gaps.Groups {
			d.Gaps = append(d.Gaps, api.SourceGapCount{Stream: g.Stream, Reason: string(g.Reason), Count: g.Count})
		}
	}
}
