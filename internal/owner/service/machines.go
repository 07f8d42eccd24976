package service

import (
	"context"

	"pdpp/internal/owner/api"
	"pdpp/internal/owner/service/told"
	"pdpp/internal/schedule/scheduler"
)

// Runtime says how the parts that serve every connection are.
func (s *Service) Runtime(ctx context.Context) (api.Runtime, error) {
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return api.Runtime{}, told.Error(err, "list the workers")
	}
	indicator, err := s.view.Indicator(ctx)
	if err != nil {
		return api.Runtime{}, told.Error(err, "read how the runtime is")
	}
	now := s.Now()
	out := api.Runtime{
		Indicator: indicator, Version: s.Version, Database: s.Database, Home: s.Home, VAPIDKey: s.VAPID.Public, StartedAt: s.started, Workers: make([]api.Worker, len(workers)),
	}
	for i, w := range workers {
		out.Workers[i] = api.Worker{ID: w.ID, Host: w.Host, Slots: w.Slots, Running: w.Running, SeenAt: w.SeenAt, Alive: scheduler.Alive(w, now)}
	}
	return out, nil
}

// Devices lists the machines that collect for the owner, with the sources on them.
func (s *Service) Devices(ctx context.Context) ([]api.Device, error) {
	devices, err := s.Store.ListDevices(ctx)
	if err != nil {
		return nil, told.Error(err, "list the devices")
	}
	sources, err := s.Store.DeviceSources(ctx, "")
	if err != nil {
		return nil, told.Error(err, "list the sources of devices")
	}
	of := map[string][]api.DeviceSource{}
	for _, src := range sources {
		of[src.DeviceID] = append(of[src.DeviceID], api.DeviceSource{
			ID: src.ID, ConnectionID: src.ConnectionID, DisplayName: src.DisplayName, ConnectorID: src.ConnectorID,
			Status: src.Status, LastHeartbeatAt: src.LastHeartbeatAt,
		})
	}
	out := make([]api.Device, len(devices))
	for i, d := range devices {
		out[i] = api.Device{
			ID: d.ID, DisplayName: d.DisplayName, Status: d.Status, AgentVersion: d.AgentVersion, LastHeartbeatAt: d.LastHeartbeatAt,
			Sources: append([]api.DeviceSource{}, of[d.ID]...),
		}
	}
	return out, nil
}
