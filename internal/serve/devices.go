package serve

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/deviceapi"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/disk"
)

// deviceRoutes is what devices are answered by, until ctx ends.
func (s *process) deviceRoutes(ctx context.Context, connectors catalog.Finder) deviceapi.Config {
	c := deviceapi.Config{Store: s.Store, Connectors: connectors, Strangers: s.Auth.Strangers(), Audit: s.Audit,
		Now: s.Now, Log: s.Log, Ending: ctx.Done()}
	if place, takes := s.Blobs.Place.(blob.UploadStorage); takes {
		c.Blobs, c.Uploads, c.BlobBytes = s.Blobs.Place, place, s.Blobs.Each
	}
	if s.Database.Postgres == nil && s.Home != "" {
		c.FreeSpace = func() (free, total uint64, known bool) {
			free, total, err := disk.Space(s.Home)
			return free, total, err == nil
		}
	}
	return c
}

// deviceSilence is how long a device may be silent before it counts as gone. A
// laptop sleeps at night; one that is silent for a day and a half is not asleep.
const deviceSilence = 36 * time.Hour

// reportDevices reports whether the devices work. A silent device is a problem of its own connections. It is the
// runtime's only if every connection depends on devices and all of them are silent.
func (s *process) reportDevices(ctx context.Context, now time.Time) error {
	devices, err := s.Store.ListDevices(ctx)
	if err != nil || len(devices) == 0 {
		return err
	}
	heard := false
	for _, d := range devices {
		heard = heard || d.Status == evidence.StatusActive && d.LastHeartbeatAt != nil &&
			now.Sub(*d.LastHeartbeatAt) < deviceSilence
	}
	c := evidence.Component{Name: "collector", Status: evidence.ProbeOK, At: now}
	if !heard && !s.deviceless.others(now) {
		c.Status, c.Reason = evidence.ProbeFailed, "devices_silent"
	}
	return s.Store.PutComponent(ctx, c)
}

// devicelessSeen remembers when a connection without a device was last seen. Every connection is checked
// periodically, so no list of all is needed.
type devicelessSeen struct{ seen time.Time }

// devicelessHolds is longer than any connection goes without a check.
const devicelessHolds = time.Hour

// Check belongs to the passes, which follow one another.
func (c *devicelessSeen) Check(_ context.Context, page []evidence.Evidence, now time.Time) (map[string]time.Time,
	error) {
	for i := range page {
		if page[i].Connection.Status == evidence.StatusActive && !page[i].LocalDevice() {
			c.seen = now
		}
	}
	return nil, nil
}

func (c *devicelessSeen) others(now time.Time) bool { return now.Sub(c.seen) < devicelessHolds }
