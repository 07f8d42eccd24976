// Package store is the storage contract: row types, sentinel errors and the
// interface that store/sqlite and store/postgres satisfy. The suite in
// store/storetest holds both to it.
//
// A store keeps facts and does not judge them. Everything that a run writes
// goes through a Lease, and every such write is fenced by the lease's
// generation: once another run has taken the connection over, the old run's
// writes fail with ErrLeaseLost and change nothing (invariant 1).
//
// Times are passed in by the caller; a store reads no clock but to tell it.
package store

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
)

// Store is everything that PDPP keeps. Methods are safe for concurrent use, by
// several processes too. Every method that changes more than one row does so in
// one transaction: it happens whole or not at all.
type Store interface {
	Connections
	Runs
	Waits
	Allowances
	Sharing
	Confirmations
	Slices
	Records
	Counts
	Rooms
	Coverages
	Imports
	Blobs
	Cursors
	Gaps
	Interactions
	Schedules
	Readiness
	Credentials
	Refreshing
	SignIns
	BrowserProfiles
	Devices
	Uploads
	EvidenceReader
	Work
	Attentions
	PushTargets
	Entries
	Grants
	Audit
	Searches
	Deletions

	// Check reads and writes enough to say whether the store is usable.
	Check(ctx context.Context) error
	// Clock gives the time by the database's own clock; ErrNoClock when it has none.
	Clock(ctx context.Context) (time.Time, error)
	Close() error
}

// Connections are the owner's sources; manifests are what their connectors declare.
type Connections interface {
	// PutManifest records what a connector declares. The generation rises by
	// one when the body differs from the newest one, and stays otherwise.
	PutManifest(ctx context.Context, connectorID string, body []byte, now time.Time) (generation int64, err error)
	// Manifest gives the newest body. ErrNotFound when there is none.
	Manifest(ctx context.Context, connectorID string) (body []byte, generation int64, err error)
	// Declared tells a connection's connector and the generation of the newest manifest that it has; zero means none.
	// ErrNotFound for no connection.
	Declared(ctx context.Context, connectionID string) (connectorID string, generation int64, err error)

	// CreateConnection fails with ErrExists when the id is taken.
	CreateConnection(ctx context.Context, c Connection) error
	// UpdateConnection writes display name, status, binding and manifest generation.
	UpdateConnection(ctx context.Context, c Connection) error
	Connection(ctx context.Context, id string) (Connection, error)
	// ListConnections orders by creation, then id.
	ListConnections(ctx context.Context) ([]Connection, error)
}

// Slices is the one road by which a run's findings become durable.
type Slices interface {
	// CommitSlice writes records, gaps, cursors and events in one transaction,
	// under the lease. Records with unchanged content keep their version and
	// sequence, so delivering a slice twice changes nothing. When a key occurs
	// twice in one slice, the last occurrence wins.
	CommitSlice(ctx context.Context, l Lease, s slice.Slice, now time.Time) (Committed, error)
}

// Committed counts what a slice changed, each key once.
type Committed struct {
	Written   int // records inserted, changed or tombstoned
	Unchanged int // records whose stored content was already the same
}
