// Package reading is how an owner reads what was collected: streams, pages of records,
// searches and exports. It writes nothing but the key that seals its cursors.
package reading

import (
	"context"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/lookup"
	"github.com/pdpp-go/pdpp/internal/share/embedding"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// RecordStore is what is read.
type RecordStore interface {
	store.Connections
	store.Records
	store.Blobs
	grants.Settings
}

// Collection is everything that was collected for the owner. It is safe for concurrent
// use.
type Collection struct {
	store RecordStore
	find  *lookup.Lookup
	now   func() time.Time
	seals cursorSeals
	files blob.Storage // nil: there are none

	// Meaning searches by meaning; nil means that it is turned off.
	Meaning *embedding.Searcher
}

// New makes the collection. Files is where those of records are; nil means that there are none.
func New(st RecordStore, find *lookup.Lookup, files blob.Storage, now func() time.Time) *Collection {
	return &Collection{store: st, find: find, files: files, now: now}
}

// cursorSeals makes cursors opaque, with a key that all processes over one store share.
type cursorSeals struct {
	mu   sync.Mutex
	made *grants.Cursors
}

func (c *Collection) pageCursors(ctx context.Context) (*grants.Cursors, error) {
	c.seals.mu.Lock()
	defer c.seals.mu.Unlock()
	if c.seals.made == nil {
		made, err := grants.NewCursors(ctx, c.store, c.now())
		if err != nil {
			return nil, faults.OwnerError(err, "load the key of cursors")
		}
		c.seals.made = made
	}
	return c.seals.made, nil
}
