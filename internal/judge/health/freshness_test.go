package health

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
)

func TestFreshnessAtItsBounds(t *testing.T) {
	const window = time.Hour
	hourly := &manifest.RefreshPolicy{MaximumStalenessSeconds: 3600}
	run := func(status evidence.RunStatus, ended time.Duration) *evidence.Run {
		return &evidence.Run{Status: status, EndedAt: noon.Add(ended)}
	}
	cases := []struct {
		name    string
		refresh *manifest.RefreshPolicy
		success *time.Time
		last    *evidence.Run
		want    Freshness
	}{
		{"nothing collected", hourly, nil, nil, FreshnessUnknown},
		{"a failure and no success", hourly, nil, run(evidence.RunFailed, -time.Minute), FreshnessUnknown},
		{"exactly as old as allowed", hourly, at(-window), run(evidence.RunSucceeded, -window), Fresh},
		{"a second older", hourly, at(-window - time.Second), run(evidence.RunSucceeded, -window-time.Second), Stale},
		{"no window", &manifest.RefreshPolicy{}, at(-time.Minute), run(evidence.RunSucceeded, -time.Minute),
			FreshnessUnknown},
		{"no policy", nil, at(-time.Minute), run(evidence.RunSucceeded, -time.Minute), FreshnessUnknown},
		{"a failure after the success", hourly, at(-time.Minute), run(evidence.RunFailed, -30*time.Second), Stale},
		{"a failure at the same moment", hourly, at(-time.Minute), run(evidence.RunAbandoned, -time.Minute), Stale},
		{"a failure before the success", hourly, at(-time.Minute), run(evidence.RunCancelled, -2*time.Minute), Fresh},
	}
	for _, c := range cases {
		e := &evidence.Evidence{Refresh: c.refresh, LastSuccessAt: c.success, LastRun: c.last}
		if got, _ := freshness(e, OutboxReading{Axis: OutboxUnknown}, noon); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A heartbeat vouches for the data only when work goes on or all of it is done.
func TestHeartbeatAsCapture(t *testing.T) {
	cases := []struct {
		status evidence.HeartbeatStatus
		axis   Outbox
		want   bool
	}{
		{evidence.HeartbeatHealthy, OutboxIdle, true},
		{evidence.HeartbeatStopped, OutboxIdle, false},
		{evidence.HeartbeatRetrying, OutboxActive, true},
		{evidence.HeartbeatBlocked, OutboxStalled, false},
		{evidence.HeartbeatHealthy, OutboxUnknown, false},
	}
	for _, c := range cases {
		source := trusted(c.status, time.Minute, num(0), nil)
		revoked := trusted(c.status, 0, num(0), nil)
		revoked.DeviceStatus = evidence.StatusRevoked
		e := &evidence.Evidence{Device: &evidence.Device{Sources: []evidence.DeviceSource{source, revoked}}}
		got := heartbeatCapture(e, OutboxReading{Axis: c.axis})
		if (got != nil) != c.want || got != nil && !got.Equal(noon.Add(-time.Minute)) {
			t.Errorf("%s, %s: %v", c.status, c.axis, got)
		}
	}
}
