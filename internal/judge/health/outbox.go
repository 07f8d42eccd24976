package health

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// StaleHeartbeat is the age at which a heartbeat no longer counts.
const StaleHeartbeat = 30 * time.Minute

// OutboxReading is the outbox state of one source or of a whole connection.
type OutboxReading struct {
	Axis  Outbox       `json:"axis"`
	Cause StalledCause `json:"cause"` // empty unless the axis is stalled
	// Unreliable means that reports exist but none comes from a trusted source.
	Unreliable bool `json:"unreliable"`
}

// heartbeatFacts is the input of outboxRules.
type heartbeatFacts struct {
	status  evidence.HeartbeatStatus
	work    int64 // what waits on the device
	counted bool  // the device reported how much waits
	dead    int64
	stale   bool
	trusted bool
	missing bool
}

type outboxRule struct {
	When  string
	Axis  Outbox
	Cause StalledCause
	holds func(heartbeatFacts) bool
}

// outboxRules are tried in order; the first that holds decides.
var outboxRules = []outboxRule{
	{"the device or the source is revoked or inactive", OutboxUnknown, "",
		func(b heartbeatFacts) bool { return !b.trusted }},
	{"no heartbeat was received", OutboxUnknown, "", func(b heartbeatFacts) bool { return b.missing }},
	{"records failed to upload for good, whatever the status says", OutboxStalled, DeadLetterBacklog,
		func(b heartbeatFacts) bool { return b.dead > 0 }},
	{"blocked without such records", OutboxStalled, StateReadFailed,
		func(b heartbeatFacts) bool { return b.status == evidence.HeartbeatBlocked }},
	{"work waits and the heartbeat is stale", OutboxStalled, StalePending,
		func(b heartbeatFacts) bool { return b.work > 0 && b.stale }},
	{"starting or retrying", OutboxActive, "", func(b heartbeatFacts) bool { return b.starting() && !b.stale }},
	{"starting or retrying, nothing waits, and the heartbeat is stale", OutboxUnknown, "",
		func(b heartbeatFacts) bool { return b.starting() }},
	{"work waits", OutboxActive, "", func(b heartbeatFacts) bool { return b.work > 0 }},
	{"healthy, or stopped with a count of what waits, and nothing waits", OutboxIdle, "", func(b heartbeatFacts) bool {
		return b.status == evidence.HeartbeatHealthy || b.status == evidence.HeartbeatStopped && b.counted
	}},
	{"anything else", OutboxUnknown, "", func(heartbeatFacts) bool { return true }},
}

func (b heartbeatFacts) starting() bool {
	return b.status == evidence.HeartbeatStarting || b.status == evidence.HeartbeatRetrying
}

// ReadHeartbeat judges one source by its newest heartbeat.
func ReadHeartbeat(s *evidence.DeviceSource, now time.Time) OutboxReading {
	b := heartbeatFacts{trusted: s.Trusted(), missing: s.Heartbeat == nil}
	if h := s.Heartbeat; h != nil {
		b.status, b.stale = h.Status, now.Sub(h.At) > StaleHeartbeat
		b.work, b.dead = waitingWork(h)
		b.counted = measured(h.Pending) != nil || h.Outbox != nil && countable(h.Outbox)
	}
	for i := range outboxRules {
		if outboxRules[i].holds(b) {
			return OutboxReading{Axis: outboxRules[i].Axis, Cause: outboxRules[i].Cause, Unreliable: !b.trusted}
		}
	}
	return OutboxReading{Axis: OutboxUnknown}
}

// waitingWork returns how much work a device holds: the largest of its figures. They count the same records, so they
// are not added.
func waitingWork(h *evidence.Heartbeat) (work, dead int64) {
	if h.Pending != nil {
		work = max(0, *h.Pending)
	}
	if c := h.Outbox; c != nil {
		dead = max(0, c.DeadLetter)
		work = max(work, c.Pending, c.Retrying, c.StaleLeases, c.BacklogOpen, dead)
	}
	return work, dead
}

// causeRank orders causes by how much the owner can do about them.
var causeRank = []StalledCause{DeadLetterBacklog, StateReadFailed, StalePending}

// ReadOutbox combines the sources of a connection: stalled before active before idle. It is idle only if every
// trusted source is.
func ReadOutbox(d *evidence.Device, now time.Time) OutboxReading {
	if d == nil || len(d.Sources) == 0 {
		return OutboxReading{Axis: OutboxUnknown}
	}
	var trusted, active, idle int
	var causes [3]bool
	for i := range d.Sources {
		r := ReadHeartbeat(&d.Sources[i], now)
		if r.Unreliable {
			continue
		}
		trusted++
		switch r.Axis {
		case OutboxStalled:
			for k, c := range causeRank {
				causes[k] = causes[k] || c == r.Cause
			}
		case OutboxActive:
			active++
		case OutboxIdle:
			idle++
		}
	}
	for k, found := range causes {
		if found {
			return OutboxReading{Axis: OutboxStalled, Cause: causeRank[k]}
		}
	}
	switch {
	case trusted == 0:
		return OutboxReading{Axis: OutboxUnknown, Unreliable: true}
	case active > 0:
		return OutboxReading{Axis: OutboxActive}
	case idle == trusted:
		return OutboxReading{Axis: OutboxIdle}
	default:
		return OutboxReading{Axis: OutboxUnknown}
	}
}
