package store

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Readiness stores the results of checks on what a run needs, and the state of components that serve every run.
type Readiness interface {
	// PutProbe replaces the result for the probe's dimension and name.
	PutProbe(ctx context.Context, p Probe) error
	DeleteProbe(ctx context.Context, connectionID string, dimension evidence.Dimension, name string) error
	// PutComponent replaces the report of a component of the runtime.
	PutComponent(ctx context.Context, c evidence.Component) error
}

// Components of the runtime that report the state of the machine.
const (
	// ComponentDatabase reports the last check of the whole database.
	ComponentDatabase = "database"
	// ComponentFileModes reports, as its reason, which private files other users could read when the server last
	// started.
	ComponentFileModes = "modes"
)

// Probe is the result of one check of one dimension of a connection.
type Probe struct {
	ConnectionID string
	evidence.Probe
}
