package serve

import (
	"context"
	"time"

	"pdpp/internal/evidence"
	"pdpp/internal/store"
)

// deviceSilence is how long a device may be silent before it counts as gone. A
// laptop sleeps at night; one that is silent for a day and a half is not asleep.
const deviceSilence = 36 * time.Hour

// reportDevices says whether the devices serve anybody at all. A silent device is
// the matter of its own connections; it is the runtime's only when every
// connection depends on devices, and all of them are silent.
func (s *service) reportDevices(ctx context.Context, now time.Time) error {
	devices, err := s.Store.ListDevices(ctx)
	if err != nil || len(devices) == 0 {
		return err
	}
	heard := false
	for _, d := range devices {
		heard = heard || d.Status == evidence.StatusActive && d.LastHeartbeatAt != nil && now.Sub(*d.LastHeartbeatAt) < deviceSilence
	}
	c := evidence.Component{Name: "collector", Status: evidence.ProbeOK, At: now}
	if !heard {
		others, err := s.othersCollect(ctx)
		if err != nil {
			return err
		}
		if !others {
			c.Status, c.Reason = evidence.ProbeFailed, "devices_silent"
		}
	}
	return s.Store.PutComponent(ctx, c)
}

// othersCollect reports whether a connection collects without a device.
func (s *service) othersCollect(ctx context.Context) (bool, error) {
	all, err := s.Store.ListConnections(ctx)
	for _, c := range all {
		if c.Status == store.ConnectionActive && c.SourceKind != store.SourceLocalDevice {
			return true, nil
		}
	}
	return false, err
}
