package store

import (
	"context"
	"time"
)

// BrowserProfile is what a connection's browser keeps from one run to the next, above all
// that the owner is signed in. It is a credential: kept sealed, never seen here in the clear.
type BrowserProfile struct {
	ConnectionID string
	Name         string
	// Generation counts how often it was kept. One that is to be kept names the generation
	// that it was opened from; zero means that there was none.
	Generation int64
	AccountMAC string // a mark of the account that it is signed in to; empty when none is known
	Sealed     []byte
	SealedAt   time.Time
	Bytes      int64 // of its files, before they were packed
}

// BrowserProfiles are the profiles of browsers, one of each name for a connection.
type BrowserProfiles interface {
	// BrowserProfile gives the newest; ErrNotFound when there is none.
	BrowserProfile(ctx context.Context, connectionID, name string) (BrowserProfile, error)
	// BrowserProfiles lists all without their content, by connection and name.
	BrowserProfiles(ctx context.Context) ([]BrowserProfile, error)
	// KeepBrowserProfile replaces a profile by what a run made of it. ErrLeaseLost when the run
	// no longer holds the connection, ErrStale when another generation than the one that it was
	// opened from is there, ErrNotFound when the owner ended the connection.
	KeepBrowserProfile(ctx context.Context, l Lease, p BrowserProfile, now time.Time) error
	// AdoptBrowserProfile does the same for what a run left behind that is no more. While
	// another one holds the connection it fails with *ActiveRunError.
	AdoptBrowserProfile(ctx context.Context, p BrowserProfile, now time.Time) error
	// DropBrowserProfiles forgets those of a connection, if there are any.
	DropBrowserProfiles(ctx context.Context, connectionID string) error
}
