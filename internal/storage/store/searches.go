package store

import (
	"context"
	"time"
)

// Searches stores the owner's named searches.
type Searches interface {
	// AddSearch returns ErrExists when the id or the name is taken.
	AddSearch(ctx context.Context, s Search) error
	// Searches lists by name, then id.
	Searches(ctx context.Context) ([]Search, error)
	// RenameSearch returns ErrExists when another search has the name.
	RenameSearch(ctx context.Context, id, name string) error
	DeleteSearch(ctx context.Context, id string) error
}

// Search is the address of a list of records, with a name.
type Search struct {
	ID        string
	Name      string
	Address   string // path below this server, such as /records?q=pear
	CreatedAt time.Time
}
