package store

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Readiness is what was found out about what a run needs, and what the parts
// that serve every run report of themselves.
type Readiness interface {
	// PutProbe replaces what was known of the probe's dimension and name.
	PutProbe(ctx context.Context, p Probe) error
	DeleteProbe(ctx context.Context, connectionID string, dimension evidence.Dimension, name string) error
	// PutComponent replaces the report of a part of the runtime.
	PutComponent(ctx context.Context, c evidence.Component) error
}

// Parts of the runtime that report what was found on the machine.
const (
	// ComponentDatabase reports the last check of the whole database.
	ComponentDatabase = "database"
	// ComponentModes reports, as its reason, the private files that the last start of a server found open to other users.
	ComponentModes = "modes"
)

// Probe is one look at one dimension of a connection.
type Probe struct {
	ConnectionID string
	evidence.Probe
}
