package api

import (
	"context"
	"time"
)

// Deleting is removing what was collected, for good after a time in which it can be undone.
type Deleting interface {
	// PreviewDeletion counts what a deletion would remove, and changes nothing.
	PreviewDeletion(ctx context.Context, r DeletionRequest) (Deletion, error)
	// Delete hides records at once and removes them for good after seven days, or without delay. The
	// connection of a deleted connection ends first. A large deletion goes on after the call.
	Delete(ctx context.Context, r DeletionRequest) (Deletion, error)
	// Deletions lists the receipts, the newest first.
	Deletions(ctx context.Context) ([]Deletion, error)
	// DeletionByID returns one receipt as it is now.
	DeletionByID(ctx context.Context, id string) (Deletion, error)
	// UndoDeletion restores the records of a deletion. A connection that ended stays ended.
	UndoDeletion(ctx context.Context, id string) (Deletion, error)
	// PurgeDeletion removes hidden records for good without further delay.
	PurgeDeletion(ctx context.Context, id string) (Deletion, error)
	// CollectDeleted lets runs collect again what was removed for good.
	CollectDeleted(ctx context.Context, id string) (Deletion, error)
	// EndedConnections lists the connections that collect no more, with what is still stored of each.
	EndedConnections(ctx context.Context) ([]EndedConnection, error)
}

// DeletionRequest is what is to be deleted.
type DeletionRequest struct {
	// Scope is everything, connection, stream, range or record.
	Scope        string `json:"scope"`
	ConnectionID string `json:"connection_id,omitempty"`
	Stream       string `json:"stream,omitempty"`
	// Since and Until bound a range by the time of records: a date or a time. Until is not included.
	Since string `json:"since,omitempty"`
	Until string `json:"until,omitempty"` // a date or a time, not included; of a range
	Key   string `json:"key,omitempty"`
	// Now leaves no time to undo it.
	Now bool `json:"now,omitempty"`
}

// Deletion is the receipt of a deletion, or what one would do.
type Deletion struct {
	ID             string `json:"deletion_id,omitempty"`
	Scope          string `json:"scope"`
	ConnectionID   string `json:"connection_id,omitempty"`
	ConnectionName string `json:"connection_name,omitempty"`
	Stream         string `json:"stream,omitempty"`
	Since          string `json:"since,omitempty"`
	Until          string `json:"until,omitempty"`
	// State is preview, hiding, hidden, undoing, undone, purging, compacting or purged.
	State      string     `json:"state"`
	AskedAt    time.Time  `json:"asked_at,omitzero"`
	PurgeAfter time.Time  `json:"purge_after,omitzero"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`
	Records    int64      `json:"records"`
	Tombstones int64      `json:"deleted_at_source"`
	Versions   int64      `json:"versions"`
	Bytes      int64      `json:"bytes"`
	Files      int64      `json:"files"`
	FileBytes  int64      `json:"file_bytes"`
	Purged     int64      `json:"purged"`
	TurnedAway int64      `json:"turned_away"` // records that arrived again and were not stored
	KeepsOut   bool       `json:"keeps_out"`
	Undoable   bool       `json:"undoable"`
	Trouble    string     `json:"trouble,omitempty"`
	// What names what is deleted, Happened and Next describe its state; every surface shows the same words.
	What     string   `json:"what"`
	Happened string   `json:"happened"`
	Next     string   `json:"next,omitempty"`
	Notes    []string `json:"notes"`
}

// Working reports whether the deletion is in progress right now.
func (d *Deletion) Working() bool {
	return d.State == "hiding" || d.State == "undoing" || d.State == "purging" || d.State == "compacting"
}

// EndedConnection is a connection that collects no more.
type EndedConnection struct {
	ConnectionID string    `json:"connection_id"`
	ConnectorID  string    `json:"connector_id"`
	DisplayName  string    `json:"display_name"`
	EndedAt      time.Time `json:"ended_at"`
	Records      int64     `json:"records"` // that are still here
	// Deletion is the newest one of the whole connection; nil when its records were kept.
	Deletion *Deletion `json:"deletion"`
}
