package evidence

import "time"

// Device holds the reports of the collectors on the owner's machines about a connection.
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
	Host         string     `json:"host,omitempty"` // the owner's name for the machine
	DeviceStatus string     `json:"device_status"`  // active or revoked
	Status       string     `json:"status"`         // active or revoked
	RevokedAt    *time.Time `json:"revoked_at"`
	// DoubledAt is when two installations were last seen using the device's access in turn.
	DoubledAt *time.Time `json:"doubled_at,omitempty"`
	Heartbeat *Heartbeat `json:"heartbeat"` // nil when none was ever received
}

// Trusted reports whether reports of the source count: device and source are active, and neither was revoked.
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

// HeartbeatStatus is the state that a collector reports for itself.
type HeartbeatStatus string

const (
	HeartbeatStarting HeartbeatStatus = "starting"
	HeartbeatHealthy  HeartbeatStatus = "healthy"
	HeartbeatRetrying HeartbeatStatus = "retrying"
	HeartbeatBlocked  HeartbeatStatus = "blocked"
	HeartbeatStopped  HeartbeatStatus = "stopped"
)

// OutboxCounts is the work that a device holds, as counts only.
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

// CoverageStore is one local store that a collector knows, and whether it was collected.
type CoverageStore struct {
	Store  string `json:"store"`
	Stream string `json:"stream,omitempty"`
	Status string `json:"status"`
}

// accountedStatuses are the statuses that explain what happened to a store's content.
var accountedStatuses = map[string]bool{
	"collected": true, "inventory_only": true, "excluded": true, "deferred": true,
	"missing": true, "unsupported": true, "unavailable": true,
}

// Accounted reports whether the status explains what happened to the store. An unknown status does not.
func (s CoverageStore) Accounted() bool { return accountedStatuses[s.Status] }
