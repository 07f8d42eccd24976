package evidence

import "time"

// Device is what collectors on the owner's machines reported about a connection.
type Device struct {
	Sources []DeviceSource `json:"sources"`
	// LastIngestAt is when the newest batch from a device was stored.
	LastIngestAt *time.Time `json:"last_ingest_at"`
	// Stores are the durable coverage diagnostics; nil when none were observed
	// or they could not be read.
	Stores []CoverageStore `json:"coverage_diagnostics"`
}

// DeviceSource is one collector's enrolment for the connection and its last heartbeat.
type DeviceSource struct {
	ID           string     `json:"source_instance_id"`
	Host         string     `json:"host,omitempty"` // what the owner calls the machine
	DeviceStatus string     `json:"device_status"`  // active or revoked
	Status       string     `json:"status"`         // active or revoked
	RevokedAt    *time.Time `json:"revoked_at"`
	// DoubledAt is when two installations were last seen to take turns with the device's access.
	DoubledAt *time.Time `json:"doubled_at,omitempty"`
	Heartbeat *Heartbeat `json:"heartbeat"` // nil: none was ever received
}

// Trusted reports whether what the source says may be believed: device and
// source are active, and neither was revoked.
func (s *DeviceSource) Trusted() bool {
	return s.DeviceStatus == StatusActive && s.Status == StatusActive && s.RevokedAt == nil
}

// Heartbeat is the newest report of a collector.
type Heartbeat struct {
	At      time.Time       `json:"at"`
	Status  HeartbeatStatus `json:"status"`
	Pending *int64          `json:"records_pending"`
	Outbox  *OutboxCounts   `json:"outbox"` // nil: the device reported no counts
}

// HeartbeatStatus is what a collector says of itself.
type HeartbeatStatus string

const (
	HeartbeatStarting HeartbeatStatus = "starting"
	HeartbeatHealthy  HeartbeatStatus = "healthy"
	HeartbeatRetrying HeartbeatStatus = "retrying"
	HeartbeatBlocked  HeartbeatStatus = "blocked"
	HeartbeatStopped  HeartbeatStatus = "stopped"
)

// OutboxCounts is how much work a device holds, in numbers alone.
type OutboxCounts struct {
	Pending         int64      `json:"pending"`
	Retrying        int64      `json:"retrying"`
	StaleLeases     int64      `json:"stale_leases"`
	DeadLetter      int64      `json:"dead_letter"`
	BacklogOpen     int64      `json:"backlog_open"`
	Leased          int64      `json:"leased"`
	Succeeded       int64      `json:"succeeded"`
	Total           int64      `json:"total"`
	OldestPendingAt *time.Time `json:"oldest_pending_at"`
}

// CoverageStore is one local store that a collector knows, and what it did with it.
type CoverageStore struct {
	Store  string `json:"store"`
	Stream string `json:"stream,omitempty"`
	Status string `json:"status"`
}

// accounted are the statuses that say where a store's content went.
var accounted = map[string]bool{
	"collected": true, "inventory_only": true, "excluded": true, "deferred": true,
	"missing": true, "unsupported": true, "unavailable": true,
}

// Accounted reports whether the store is accounted for. A status that is not
// known does not account for anything.
func (s CoverageStore) Accounted() bool { return accounted[s.Status] }
