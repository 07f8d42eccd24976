package store

import (
	"context"
	"time"
)

// Confirmation is the owner's word that a foreign connector may run as it then was: this
// program, with these variables and these paths.
type Confirmation struct {
	ConnectorID string
	Executable  string   // SHA-256 of the program, in hexadecimal
	Variables   []string // what it is given
	Paths       []string // the variables whose paths it reads
	ConfirmedAt time.Time
}

// Confirmations keep which foreign connectors may run.
type Confirmations interface {
	// ConfirmConnector replaces what was confirmed before, and has the connector's connections looked at.
	ConfirmConnector(ctx context.Context, c Confirmation) error
	// ConfirmedConnector gives ErrNotFound for one that was never confirmed.
	ConfirmedConnector(ctx context.Context, connectorID string) (Confirmation, error)
	// DropConfirmations takes the owner's word for every connector back.
	DropConfirmations(ctx context.Context) error
}
