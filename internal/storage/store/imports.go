package store

import (
	"context"
	"time"
)

// Imports stores the receipts of files that the owner imported, and which records came from which file. CommitSlice
// updates the counts.
type Imports interface {
	// AddImport stores the receipt of a received file. It returns ErrExists when the connection has a receipt with
	// the same content or path that was not undone.
	AddImport(ctx context.Context, i Import) error
	// Imports lists the receipts of a connection, newest first.
	Imports(ctx context.Context, connectionID string) ([]Import, error)
	// Import returns one receipt, or ErrNotFound.
	Import(ctx context.Context, id string) (Import, error)
	// ImportRecords counts the live records that came only from the file (alone), and those that have another origin
	// too (shared).
	ImportRecords(ctx context.Context, id string) (alone, shared int64, err error)
	// BeginImportUndo records that the undo of an import has started.
	BeginImportUndo(ctx context.Context, id string, now time.Time) error
	// UndoImport deletes, under the lease, up to limit records that came only from the file, and detaches as many
	// others from it. Done reports that the import is undone. An interrupted undo continues with the next call.
	UndoImport(ctx context.Context, l Lease, id string, limit int, now time.Time) (done bool, err error)
}

// Import is the receipt of a file.
type Import struct {
	ID           string
	ConnectionID string
	Path         string // below the connection's import folder, with slashes
	Name         string // the owner's name for the file
	SHA256       string // empty for a file that was put into the folder by hand
	Bytes        *int64
	ReceivedAt   time.Time
	// RunID is the newest run that took records from the file.
	RunID     string
	RunStatus RunStatus
	// ReadRunID is the first successful run that started after the file was received. LastRunID is the newest run
	// that started after it, with any status.
	ReadRunID, LastRunID string
	LastStatus           RunStatus
	// New, Changed and Same count the file's records at the time they were committed.
	New, Changed, Same int64
	UndoBegunAt        *time.Time
	UndoneAt           *time.Time
	Deleted            int64 // records deleted by the undo
}
