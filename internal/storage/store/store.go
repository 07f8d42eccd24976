// Package store is the storage contract: row types, sentinel errors and the interface that store/sqlite and
// store/postgres implement. The suite in store/storetest tests both against it.
//
// A store holds facts and does not judge them. A run writes only under a Lease, and every such write checks the
// lease's generation. Once another run has taken the connection over, writes of the old run fail with ErrLeaseLost
// and change nothing (invariant 1).
//
// Callers pass times in; a store reads a clock only in the method Clock.
package store

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
)

// Store is everything that PDPP stores. Methods are safe for concurrent use, also by several processes. A method that
// changes several rows does so in one transaction.
type Store interface {
	Connections
	Runs
	Waits
	Allowances
	AllowanceSharing
	Confirmations
	Slices
	Records
	Counts
	DiskUsageReader
	Coverages
	Imports
	Blobs
	Cursors
	Gaps
	Interactions
	Schedules
	Readiness
	Credentials
	CredentialRefresh
	SignIns
	BrowserProfiles
	Devices
	Uploads
	EvidenceReader
	Coordination
	Attentions
	PushTargets
	OwnerAccess
	Grants
	Audit
	Searches
	Deletions
	Webhooks
	RunTriggers
	Vectors

	// Check reads and writes a little to report whether the store is usable.
	Check(ctx context.Context) error
	// Clock returns the time of the database's clock, or ErrNoClock when it has none.
	Clock(ctx context.Context) (time.Time, error)
	Close() error
}

// Connections stores the owner's connections and the manifests of connectors.
type Connections interface {
	// PutManifest stores what a connector declares. The generation increases by one when the body differs from the
	// newest one.
	PutManifest(ctx context.Context, connectorID string, body []byte, now time.Time) (generation int64, err error)
	// Manifest returns the newest body, or ErrNotFound.
	Manifest(ctx context.Context, connectorID string) (body []byte, generation int64, err error)
	// ConnectorGeneration returns a connection's connector and the generation of its newest manifest; zero means
	// none. ErrNotFound for an unknown connection.
	ConnectorGeneration(ctx context.Context, connectionID string) (connectorID string, generation int64, err error)

	// CreateConnection returns ErrExists when the id is taken.
	CreateConnection(ctx context.Context, c Connection) error
	// UpdateConnection writes display name, status, binding and manifest generation.
	UpdateConnection(ctx context.Context, c Connection) error
	Connection(ctx context.Context, id string) (Connection, error)
	// ListConnections lists by creation, then id. Drafts are not connections yet and are left out.
	ListConnections(ctx context.Context) ([]Connection, error)
	// DiscardDrafts deletes the draft with the id, and those that have not changed since.
	DiscardDrafts(ctx context.Context, id string, before time.Time) error
}

// Slices commits what a run found.
type Slices interface {
	// CommitSlice writes records, gaps, cursors and events in one transaction, under the lease. Records with
	// unchanged content keep their version and sequence, so committing a slice twice changes nothing. When a key
	// occurs twice in a slice, the last occurrence wins.
	CommitSlice(ctx context.Context, l Lease, s slice.Slice, now time.Time) (Committed, error)
}

// Committed counts what a slice changed, each key once.
type Committed struct {
	Written   int // records inserted, changed or tombstoned
	Unchanged int // records with the same stored content
}
