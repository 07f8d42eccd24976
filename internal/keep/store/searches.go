package store

import (
	"context"
	"time"
)

// Searches are what the owner looks for again, by name.
type Searches interface {
	// AddSearch fails with ErrExists when the id or the name is taken.
	AddSearch(ctx context.Context, s Search) error
	// Searches orders by name, then id.
	Searches(ctx context.Context) ([]Search, error)
	// RenameSearch fails with ErrExists when another one has the name.
	RenameSearch(ctx context.Context, id, name string) error
	DeleteSearch(ctx context.Context, id string) error
}

// Search is the address of a list of records, with a name.
type Search struct {
	ID        string
	Name      string
	Address   string // below this server, like /records?q=pear
	CreatedAt time.Time
}
