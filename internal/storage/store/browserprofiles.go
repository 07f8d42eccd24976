package store

import (
	"context"
	"time"
)

// BrowserProfile is the sealed state of a connection's browser between runs, such as sign-in cookies. It is a
// credential; the store never has it in plain text.
type BrowserProfile struct {
	ConnectionID string
	Name         string
	// Generation counts how often the profile was saved. A profile to save has the generation that it was opened
	// from; zero means that there was none.
	Generation int64
	AccountMAC string // keyed hash of the signed-in account; empty when unknown
	Sealed     []byte
	SealedAt   time.Time
	Bytes      int64 // size of its files before packing
}

// BrowserProfiles stores browser profiles, by connection and name.
type BrowserProfiles interface {
	// BrowserProfile returns the newest generation, or ErrNotFound.
	BrowserProfile(ctx context.Context, connectionID, name string) (BrowserProfile, error)
	// BrowserProfiles lists all without their content, by connection and name.
	BrowserProfiles(ctx context.Context) ([]BrowserProfile, error)
	// SaveBrowserProfile replaces a profile after a run. It returns ErrLeaseLost when the run no longer holds the
	// connection, ErrStale when the stored generation differs from the one that was opened, and ErrNotFound when the
	// owner revoked the connection.
	SaveBrowserProfile(ctx context.Context, l Lease, p BrowserProfile, now time.Time) error
	// AdoptBrowserProfile does the same for a profile that an ended run left behind. It returns *ActiveRunError while
	// another run holds the connection.
	AdoptBrowserProfile(ctx context.Context, p BrowserProfile, now time.Time) error
	// DropBrowserProfiles deletes the profiles of a connection.
	DropBrowserProfiles(ctx context.Context, connectionID string) error
}
