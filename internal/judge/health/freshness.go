package health

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// capture is what freshness depends on.
type capture struct {
	at     *time.Time    // the time of the newest data
	failed bool          // the newest run did not succeed, at or after that time
	window time.Duration // how old data may be; 0 if not declared
	age    time.Duration
}

type freshnessRule struct {
	When  string
	Axis  Freshness
	holds func(capture) bool
}

// freshnessRules are tried in order; the first that holds decides. A source
// without a declared window is never called fresh.
var freshnessRules = [...]freshnessRule{
	{"nothing was collected yet", FreshnessUnknown, func(c capture) bool { return c.at == nil }},
	{"the newest run did not succeed, at or after the last success", Stale, func(c capture) bool { return c.failed }},
	{"the manifest declares no window", FreshnessUnknown, func(c capture) bool { return c.window <= 0 }},
	{"the data is older than the window", Stale, func(c capture) bool { return c.age > c.window }},
	{"otherwise", Fresh, func(capture) bool { return true }},
}

// freshness returns the axis and the time of the newest data. A device that reports to be working or done confirms
// its data as of that report.
func freshness(e *evidence.Evidence, outbox OutboxReading, now time.Time) (Freshness, *time.Time) {
	c := capture{at: later(e.LastSuccessAt, heartbeatCapture(e, outbox))}
	if c.at != nil {
		c.age = now.Sub(*c.at)
		c.failed = e.LastRun != nil && e.LastRun.Status != evidence.RunSucceeded && !e.LastRun.EndedAt.Before(*c.at)
	}
	if e.Refresh != nil {
		c.window = time.Duration(e.Refresh.MaximumStalenessSeconds) * time.Second
	}
	for i := range freshnessRules {
		if freshnessRules[i].holds(c) {
			return freshnessRules[i].Axis, c.at
		}
	}
	return FreshnessUnknown, c.at
}

// heartbeatCapture returns the newest heartbeat that confirms the data: the device is uploading or has uploaded
// everything.
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
