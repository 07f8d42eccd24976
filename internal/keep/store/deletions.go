package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Deletions removes what the owner asks to be removed. A deletion first hides its records: each becomes a
// tombstone, so that every reader, count and index follows as it follows a deletion at the source. Its
// content can be restored until PurgeAfter. Then everything is removed for good. All work is done in
// bounded steps by AdvanceDeletion; a step that is cut short is repeated by the next call.
type Deletions interface {
	// PreviewDeletion counts what a deletion of the scope would hide now.
	PreviewDeletion(ctx context.Context, s DeletionScope) (DeletionCounts, error)
	// AskDeletion records the owner's wish. When it returns, no run and no device stores anything in the
	// scope any more. ErrNotFound when there is no such connection, stream or record.
	AskDeletion(ctx context.Context, d Deletion) error
	// Deletions lists all deletions of a connection, the newest first; an empty id means those of all.
	Deletions(ctx context.Context, connectionID string) ([]Deletion, error)
	// Deletion returns one deletion. ErrNotFound otherwise.
	Deletion(ctx context.Context, id string) (Deletion, error)
	// UndoDeletion asks for the records to be restored, and lets runs store them again. ErrTooLate after
	// PurgeAfter or when purging has begun.
	UndoDeletion(ctx context.Context, id string, now time.Time) error
	// PurgeDeletion ends the time in which the deletion can be undone, and with it that of other deletions of
	// the same connection or stream. So does a deletion that is asked for without such a time. ErrTooLate
	// after an undo.
	PurgeDeletion(ctx context.Context, id string, now time.Time) error
	// AdmitDeleted lets runs store again what a deletion keeps out, from the source's beginning.
	AdmitDeleted(ctx context.Context, id string, now time.Time) error
	// AdvanceDeletion does one step of the oldest deletion that has work. Idle reports that there is nothing
	// to do now. A deletion in state compacting waits for its files: see DeletedFiles.
	AdvanceDeletion(ctx context.Context, now time.Time) (idle bool, err error)
	// DeletedFiles lists files that are to be removed from the place where files are kept.
	DeletedFiles(ctx context.Context, limit int) ([]string, error)
	// FileDeleted forgets a file after it was removed.
	FileDeleted(ctx context.Context, sha256 string) error
	// FinishDeletions compacts the database, so that no byte of what was purged remains in it, and marks
	// the deletions in state compacting as purged. Readers are served meanwhile, where the database can.
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

// DeletionScope names what is deleted.
type DeletionScope struct {
	Kind         DeletionKind
	ConnectionID string // empty for everything
	Stream       string // of a stream, a range or a record; a range without one covers all streams
	Since, Until string // of a range, as semantic times are kept; Until is not included; empty means no bound
	Key          string // of a record; it is not kept
}

// DeletionState is how far a deletion is.
type DeletionState string

const (
	DeletionHiding     DeletionState = "hiding"
	DeletionHidden     DeletionState = "hidden"
	DeletionUndoing    DeletionState = "undoing"
	DeletionUndone     DeletionState = "undone"
	DeletionPurging    DeletionState = "purging"
	DeletionCompacting DeletionState = "compacting" // files are removed, and the database is compacted
	DeletionPurged     DeletionState = "purged"
)

// DeletionCounts is what a deletion hides, and later removes.
type DeletionCounts struct {
	Records    int64 // live ones
	Tombstones int64 // records that the source had deleted, with their history
	Versions   int64 // earlier ones
	Bytes      int64 // of the records' data
	Files      int64 // that no other record refers to
	FileBytes  int64
}

// Deletion is the owner's wish with its receipt. The key of a record is not kept.
type Deletion struct {
	ID string
	DeletionScope
	State      DeletionState
	AskedAt    time.Time
	PurgeAfter time.Time
	EndedAt    *time.Time // when it was undone or purged
	DeletionCounts
	Purged     int64  // records and tombstones that are removed for good
	TurnedAway int64  // records that runs or devices brought since, and that were not stored
	KeepsOut   bool   // runs may not bring the records back
	Trouble    string // of the newest step, if it failed
}

// KeepsStreamOut reports whether runs do not collect the stream of the deletion any more.
func (d *Deletion) KeepsStreamOut() bool { return d.Kind == DeleteStream && d.KeepsOut }

// DeletedKey is how a deleted record's key is remembered.
func DeletedKey(connectionID, stream, key string) string {
	sum := sha256.Sum256([]byte(connectionID + "\x00" + stream + "\x00" + key))
	return hex.EncodeToString(sum[:])
}
