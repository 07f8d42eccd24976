package api

import (
	"time"
)

// Work is what goes on: who works, the runs under way, and those that were asked for and
// have not begun.
type Work struct {
	Workers  []Worker     `json:"workers"`
	Runs     []LeasedRun  `json:"runs"`
	Requests []RunRequest `json:"requests"`
}

// Worker is one process that runs connections.
type Worker struct {
	ID           string    `json:"worker_id"`
	Host         string    `json:"host"`
	PID          int       `json:"pid"`
	Version      string    `json:"version"`
	Capabilities []string  `json:"capabilities"`
	Slots        int       `json:"slots"`
	Running      int       `json:"running"`
	Draining     bool      `json:"draining"` // takes nothing new
	StartedAt    time.Time `json:"started_at"`
	SeenAt       time.Time `json:"seen_at"`
	Alive        bool      `json:"alive"`
}

// LeasedRun is a run under way, with the lease that it holds.
type LeasedRun struct {
	RunID        string    `json:"run_id"`
	ConnectionID string    `json:"connection_id"`
	ConnectorID  string    `json:"connector_id"`
	Trigger      string    `json:"trigger_kind"`
	Holder       string    `json:"lease_holder"`
	StartedAt    time.Time `json:"started_at"`
	ExpiresAt    time.Time `json:"lease_expires_at"`
}

// RunRequest is a run that was asked for and has not begun.
type RunRequest struct {
	ConnectionID string    `json:"connection_id"`
	Trigger      string    `json:"trigger_kind"`
	RecoveryOnly bool      `json:"recovery_only"`
	AskAnyway    bool      `json:"ask_anyway,omitempty"`
	RequestedAt  time.Time `json:"requested_at"`
	// Scope is the records that the run is limited to; empty means all.
	Scope []SelectedStream `json:"scope,omitempty"`
	// GrantID names the grant that requested the records.
	GrantID string `json:"grant_id,omitempty"`
}
