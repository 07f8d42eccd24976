package owner

import (
	"context"

	"pdpp/internal/owner/told"
	"pdpp/internal/ownerapi"
	"pdpp/internal/scheduler"
)

// Runtime says how the parts that serve every connection are.
func (s *Service) Runtime(ctx context.Context) (ownerapi.Runtime, error) {
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return ownerapi.Runtime{}, told.Error(err, "list the workers")
	}
	indicator, err := s.view.Indicator(ctx)
	if err != nil {
		return ownerapi.Runtime{}, told.Error(err, "read how the runtime is")
	}
	now := s.Now()
	out := ownerapi.Runtime{
		Indicator: indicator, Version: s.Version, Database: s.Database, Home: s.Home, VAPIDKey: s.VAPID.Public, StartedAt: s.started, Workers: make([]ownerapi.Worker, len(workers)),
	}
	for i, w := range workers {
		out.Workers[i] = ownerapi.Worker{ID: w.ID, Host: w.Host, Slots: w.Slots, Running: w.Running, SeenAt: w.SeenAt, Alive: scheduler.Alive(w, now)}
	}
	return out, nil
}

// Devices lists the machines that collect for the owner, with the sources on them.
func (s *Service) Devices(ctx context.Context) ([]ownerapi.Device, error) {
	devices, err := s.Store.ListDevices(ctx)
	if err != nil {
		return nil, told.Error(err, "list the devices")
	}
	sources, err := s.Store.DeviceSources(ctx, "")
	if err != nil {
		return nil, told.Error(err, "list the sources of devices")
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
