package owner

import (
	"context"

	"pdpp/internal/ownerapi"
	"pdpp/internal/ownerview"
	"pdpp/internal/store"
)

const (
	recentRuns = 10
	missingAll = 100
)

// Overview gives every connection that is not revoked, and their summary.
func (s *Service) Overview(ctx context.Context) (ownerview.Overview, error) {
	o, err := s.view.All(ctx)
	return o, told(err, "judge the connections")
}

// Connection gives all of one connection; also of a revoked one.
func (s *Service) Connection(ctx context.Context, id string) (ownerapi.Detail, error) {
	judged, indicator, err := s.view.One(ctx, id)
	if err != nil {
		return ownerapi.Detail{}, told(err, "judge the connection")
	}
	d := ownerapi.Detail{Connection: judged, Indicator: indicator, RecentRuns: []ownerapi.Run{}}
	conn, err := s.connection(ctx, id)
	if err != nil {
		return d, err
	}
	d.CreatedAt = conn.CreatedAt
	if found, err := s.finder.Find(ctx, conn.ConnectorID); err == nil {
		described := describe(found.Name, found.Manifest)
		d.Connector = &described
	} else if ctx.Err() != nil {
		return d, ctx.Err()
	}
	if d.Credential, err = s.credentialOf(ctx, id); err != nil {
		return d, err
	}
	if d.Limits, err = s.limitsOf(ctx, conn); err != nil {
		return d, err
	}
	e, err := s.evidenceOf(ctx, id)
	if err != nil {
		return d, err
	}
	d.Plan = plan(&e, judged.ObservedAt)
	if d.RecentRuns, err = s.Runs(ctx, id, recentRuns); err != nil {
		return d, err
	}
	for i := range d.RecentRuns {
		if d.RecentRuns[i].Status == string(store.RunRunning) {
			d.ActiveRun = &d.RecentRuns[i]
			break
		}
	}
	return d, nil
}

// Why explains the connection's verdict.
func (s *Service) Why(ctx context.Context, id string) (ownerview.Explanation, error) {
	e, err := s.view.Why(ctx, id)
	return e, told(err, "explain the connection")
}

// Missing lists what could not be fetched yet, the oldest first.
func (s *Service) Missing(ctx context.Context, id string) ([]ownerapi.Gap, error) {
	conn, err := s.connection(ctx, id)
	if err != nil {
		return nil, err
	}
	m, err := s.manifest(ctx, conn.ConnectorID)
	if err != nil {
		return nil, err
	}
	gaps, err := s.Store.ListGaps(ctx, store.GapQuery{ConnectionID: id, Missing: true, Limit: missingAll})
	if err != nil {
		return nil, told(err, "list what is missing")
	}
	out := make([]ownerapi.Gap, len(gaps))
	for i, g := range gaps {
		out[i] = ownerapi.Gap{
			ID: g.ID, Stream: g.Stream, RecordKey: g.RecordKey, Reason: string(g.Reason), Text: gapText(m, g), Status: string(g.Status), Attempts: g.AttemptCount,
			NotBefore: g.NotBefore, CreatedAt: g.CreatedAt, LastAttempt: g.LastAttemptAt, IgnoredWhy: g.IgnoredWhy,
		}
	}
	return out, nil
}

// Devices lists the machines that collect for the owner, with the sources on them.
func (s *Service) Devices(ctx context.Context) ([]ownerapi.Device, error) {
	devices, err := s.Store.ListDevices(ctx)
	if err != nil {
		return nil, told(err, "list the devices")
	}
	sources, err := s.Store.DeviceSources(ctx, "")
	if err != nil {
		return nil, told(err, "list the sources of devices")
	}
	of := map[string][]ownerapi.DeviceSource{}
	for _, src := range sources {
		of[src.DeviceID] = append(of[src.DeviceID], ownerapi.DeviceSource{
			ID: src.ID, ConnectionID: src.ConnectionID, DisplayName: src.DisplayName, ConnectorID: src.ConnectorID,
			Status: src.Status, LastHeartbeatAt: src.LastHeartbeatAt,
		})
	}
	out := make([]ownerapi.Device, len(devices))
	for i, d := range devices {
		out[i] = ownerapi.Device{
			ID: d.ID, DisplayName: d.DisplayName, Status: d.Status, AgentVersion: d.AgentVersion, LastHeartbeatAt: d.LastHeartbeatAt,
			Sources: append([]ownerapi.DeviceSource{}, of[d.ID]...),
		}
	}
	return out, nil
}
