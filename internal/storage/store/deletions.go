package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Deletions removes what the owner asks to delete. A deletion first hides its records: each becomes a tombstone, so
// that readers, counts and indexes treat it like a deletion at the source. The content can be restored until
// PurgeAfter, and is then removed permanently. AdvanceDeletion does all work in bounded steps; the next call repeats
// an interrupted step.
type Deletions interface {
	// PreviewDeletion counts what a deletion of the scope would hide now.
	PreviewDeletion(ctx context.Context, s DeletionScope) (DeletionCounts, error)
	// RequestDeletion stores the owner's request. When it returns, no run and no device stores anything in the scope
	// any more. It returns ErrNotFound when there is no such connection, stream or record.
	RequestDeletion(ctx context.Context, d Deletion) error
	// Deletions lists the deletions of a connection, newest first; an empty id means all connections.
	Deletions(ctx context.Context, connectionID string) ([]Deletion, error)
	// Deletion returns one deletion, or ErrNotFound.
	Deletion(ctx context.Context, id string) (Deletion, error)
	// UndoDeletion requests that the records are restored, and allows runs to store them again. It returns ErrTooLate
	// after PurgeAfter or when purging has begun.
	UndoDeletion(ctx context.Context, id string, now time.Time) error
	// PurgeDeletion ends the time in which the deletion can be undone, and that of other deletions of the same
	// connection or stream. A deletion that is requested without such a time does the same. It returns ErrTooLate
	// after an undo.
	PurgeDeletion(ctx context.Context, id string, now time.Time) error
	// ReadmitDeleted allows runs to store what a deletion blocks, from the beginning of the source.
	ReadmitDeleted(ctx context.Context, id string, now time.Time) error
	// AdvanceDeletion does one step of the oldest deletion that has work. Idle reports that there is nothing to do
	// now. A deletion in state compacting waits until its files are removed: see DeletedFiles.
	AdvanceDeletion(ctx context.Context, now time.Time) (idle bool, err error)
	// DeletedFiles lists files to remove from file storage.
	DeletedFiles(ctx context.Context, limit int) ([]string, error)
	// FileDeleted deletes the entry of a removed file.
	FileDeleted(ctx context.Context, sha256 string) error
	// FinishDeletions compacts the database, so that no byte of purged data remains in it, and marks the deletions in
	// state compacting as purged. Readers continue meanwhile, where the database supports that.
	FinishDeletions(ctx context.Context, now time.Time) error
}

// DeletionKind is what a deletion covers.
type DeletionKind string

const (
	DeleteEverything DeletionKind = "everything"
	DeleteConnection DeletionKind = "connection"
	DeleteStream     DeletionKind = "stream"
	DeleteRange      DeletionKind = "range"
	DeleteRecord     DeletionKind = "record"
)

// DeletionScope is what is deleted.
type DeletionScope struct {
	Kind         DeletionKind
	ConnectionID string // empty for everything
	Stream       string // for a stream, range or record; a range without a stream covers all streams
	Since, Until string // for a range, as semantic times are stored; Until is exclusive; empty means no limit
	Key          string // for a record; it is not stored
}

// DeletionState is the progress of a deletion.
type DeletionState string

const (
	DeletionHiding     DeletionState = "hiding"
	DeletionHidden     DeletionState = "hidden"
	DeletionUndoing    DeletionState = "undoing"
	DeletionUndone     DeletionState = "undone"
	DeletionPurging    DeletionState = "purging"
	DeletionCompacting DeletionState = "compacting" // files are removed and the database is compacted
	DeletionPurged     DeletionState = "purged"
)

// DeletionCounts is what a deletion hides, and later removes.
type DeletionCounts struct {
	Records    int64 // live records
	Tombstones int64 // records that the source had deleted, with their history
	Versions   int64 // earlier versions
	Bytes      int64 // size of the records' data
	Files      int64 // files that no other record refers to
	FileBytes  int64
}

// Deletion is the owner's request with its receipt. The key of a record is not stored.
type Deletion struct {
	ID string
	DeletionScope
	State      DeletionState
	AskedAt    time.Time
	PurgeAfter time.Time
	EndedAt    *time.Time // when it was undone or purged
	DeletionCounts
	Purged       int64  // permanently removed records and tombstones
	TurnedAway   int64  // records that runs or devices sent since, and that were rejected
	BlocksReturn bool   // runs may not store the records again
	Trouble      string // error of the newest step, if it failed
}

// BlocksStream reports whether runs no longer collect the deleted stream.
func (d *Deletion) BlocksStream() bool { return d.Kind == DeleteStream && d.BlocksReturn }

// DeletedKey returns the hash under which a deleted record's key is stored.
func DeletedKey(connectionID, stream, key string) string {
	sum := sha256.Sum256([]byte(connectionID + "\x00" + stream + "\x00" + key))
	return hex.EncodeToString(sum[:])
}
