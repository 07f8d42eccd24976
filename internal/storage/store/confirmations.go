package store

import (
	"context"
	"time"
)

// Confirmation is the owner's consent to run one version of a foreign connector with these variables and paths.
type Confirmation struct {
	ConnectorID string
	Executable  string   // SHA-256 of the program, in hexadecimal
	Variables   []string // environment variables that the program receives
	Paths       []string // variables that hold paths which the program reads
	ConfirmedAt time.Time
}

// Confirmations stores which foreign connectors may run.
type Confirmations interface {
	// ConfirmConnector replaces an earlier confirmation and marks the connector's connections as changed.
	ConfirmConnector(ctx context.Context, c Confirmation) error
	// ConfirmedConnector returns ErrNotFound for a connector that was never confirmed.
	ConfirmedConnector(ctx context.Context, connectorID string) (Confirmation, error)
	// DropConfirmations withdraws all confirmations.
	DropConfirmations(ctx context.Context) error
}
