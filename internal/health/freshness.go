package health

import (
	"time"

	"pdpp/internal/evidence"
)

// freshness gives the axis and the moment that the data is as of. A source
// without a declared window is never called fresh, and a device that reports
// that it is at work or done speaks for the data it holds.
func freshness(e *evidence.Evidence, outbox OutboxReading, now time.Time) (Freshness, *time.Time) {
	captured := later(e.LastSuccessAt, heartbeatCapture(e, outbox))
	if captured == nil {
		return FreshnessUnknown, nil
	}
	if r := e.LastRun; r != nil && r.Status != evidence.RunSucceeded && !r.EndedAt.Before(*captured) {
		return Stale, captured
	}
	if e.Refresh == nil || e.Refresh.MaximumStalenessSeconds <= 0 {
		return FreshnessUnknown, captured
	}
	window := time.Duration(e.Refresh.MaximumStalenessSeconds) * time.Second
	if now.Sub(*captured) > window {
		return Stale, captured
	}
	return Fresh, captured
}

// heartbeatCapture is the newest heartbeat that vouches for the data: work is
// going on, or all of it is done.
func heartbeatCapture(e *evidence.Evidence, outbox OutboxReading) *time.Time {
	if e.Device == nil || outbox.Axis != OutboxActive && outbox.Axis != OutboxIdle {
		return nil
	}
	var newest *time.Time
	for i := range e.Device.Sources {
		s := &e.Device.Sources[i]
		if !s.Trusted() || s.Heartbeat == nil {
			continue
		}
		if outbox.Axis == OutboxActive || s.Heartbeat.Status == evidence.HeartbeatHealthy {
			newest = later(newest, &s.Heartbeat.At)
		}
	}
	return newest
}
