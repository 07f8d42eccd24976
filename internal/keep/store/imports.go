package store

import (
	"context"
	"time"
)

// Imports keeps the receipts of files that an owner gave, and which records came from which
// file. CommitSlice counts what comes from each.
type Imports interface {
	// AddImport keeps the receipt of a file that was received. ErrExists when the connection
	// has one of the same content, or of the same path, that was not undone.
	AddImport(ctx context.Context, i Import) error
	// Imports lists the receipts of a connection, the newest first.
	Imports(ctx context.Context, connectionID string) ([]Import, error)
	// Import gives one receipt. ErrNotFound otherwise.
	Import(ctx context.Context, id string) (Import, error)
	// ImportRecords counts the live records that came from the file of a receipt: by it alone,
	// and by something else too.
	ImportRecords(ctx context.Context, id string) (alone, shared int64, err error)
	// BeginUndo notes that an import is to be undone.
	BeginUndo(ctx context.Context, id string, now time.Time) error
	// UndoImport deletes some of the records that came from the file of a receipt alone, under
	// the lease, and lets go of as many others. Done is true when nothing is left, and the import
	// is undone: what was cut short is gone on with by asking again.
	UndoImport(ctx context.Context, l Lease, id string, limit int, now time.Time) (done bool, err error)
}

// Import is the receipt of a file.
type Import struct {
	ID           string
	ConnectionID string
	Path         string // below the import folder of the connection, with slashes
	Name         string // as the owner called it
	SHA256       string // empty: it was put into the folder by hand, and not measured
	Bytes        *int64
	ReceivedAt   time.Time
	// RunID is the newest run that took records from the file, RunStatus how it is.
	RunID     string
	RunStatus RunStatus
	// ReadRunID is the first run that began after the file was received and succeeded; LastRunID
	// the newest that began then, however it is.
	ReadRunID, LastRunID string
	LastStatus           RunStatus
	// New, Changed and Same count its records as they came.
	New, Changed, Same int64
	UndoBegunAt        *time.Time
	UndoneAt           *time.Time
	Deleted            int64 // by undoing it
}
