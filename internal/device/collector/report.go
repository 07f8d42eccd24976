package collector

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// Cause is why a pass did not end healthy.
type Cause string

const (
	CauseDeadLetters Cause = "dead_letter_backlog"
	CauseStateRead   Cause = "state_read_failed"
	CausePending     Cause = "uploads_pending"
	CauseConnector   Cause = "connector_failed"
	CauseStopped     Cause = "stopped"
	CauseDiskFull    Cause = "disk_full"
	// The server takes nothing from this device now; what waits stays as it is.
	CauseUnreachable   Cause = wire.ServerUnreachable
	CauseDeviceUnknown Cause = wire.DeviceUnknown
	CauseSourceUnknown Cause = wire.SourceUnknown
	// CauseSourceDeleted means that the owner deleted the connection; what waited here was dropped.
	CauseSourceDeleted Cause = wire.SourceDeleted
	CauseUpgradeNeeded Cause = wire.UpgradeNeeded
)

// Report is what one pass did.
type Report struct {
	SourceInstanceID string `json:"source_instance_id"`
	ConnectorID      string `json:"connector_id"`
	// Status is the last status sent to the server, whether or not it was delivered.
	Status             string            `json:"status"`
	HeartbeatDelivered bool              `json:"heartbeat_delivered"`
	Cause              Cause             `json:"cause,omitzero"`
	LastError          string            `json:"last_error,omitzero"`          // a code
	Run                *RunReport        `json:"run,omitzero"`                 // nil: the connector was not started
	WaitUntil          *time.Time        `json:"provider_wait_until,omitzero"` // nil: no wait for the provider
	Uploaded           Uploaded          `json:"uploaded"`
	Outbox             wire.OutboxCounts `json:"outbox"`
	// RetryAfter is what the server asked for before the next attempt; zero: nothing.
	RetryAfter time.Duration `json:"-"`
	// SetAside is the name that a damaged queue has got; what was in it is collected again.
	SetAside string `json:"damaged_queue,omitzero"`
	// Wanted reports whether the owner requested another pass during this one.
	Wanted bool `json:"-"`
}

// RunReport is what the connector did.
type RunReport struct {
	RunID   string        `json:"run_id"`
	Status  runner.Status `json:"status"`
	Records int64         `json:"records_queued"`
	Gaps    int           `json:"gaps_open"`
	Reason  runner.Reason `json:"reason,omitzero"`
	Message string        `json:"message,omitzero"`
}

// OK reports whether the pass did all that it set out to do.
func (r *Report) OK() bool { return r.HeartbeatDelivered && r.Cause == "" }
