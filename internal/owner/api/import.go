package api

import (
	"context"
	"io"
	"time"
)

// Importing is giving files to connections, and taking back what came from them.
type Importing interface {
	// Import gives a connection a file and asks for the run that reads it. A file that is not
	// received to its end leaves nothing. The same content again does nothing, and gives the
	// receipt that there is, with Already.
	Import(ctx context.Context, connectionID string, f ImportFile) (Import, error)
	// Imports lists the receipts of a connection, the newest first.
	Imports(ctx context.Context, connectionID string) ([]Import, error)
	// ImportByID gives one receipt, with what undoing it would do.
	ImportByID(ctx context.Context, id string) (Import, error)
	// UndoImport deletes the records that came from the file of a receipt alone, and the file
	// itself if it was received here. What another file or the source brought too stays as it is.
	// One that was broken off, or is large and has the status undoing still, is gone on with by
	// asking again.
	UndoImport(ctx context.Context, id string) (Import, error)
}

// ImportFile is a file that an owner gives.
type ImportFile struct {
	Name    string // as the owner calls it; nothing of it leads anywhere
	Bytes   int64  // as far as it is known beforehand; zero for not
	Content io.Reader
}

// Import is the receipt of a file.
type Import struct {
	ID           string `json:"import_id"`
	ConnectionID string `json:"connection_id"`
	Name         string `json:"name"`
	// SHA256 is empty, and Bytes nil, for a file that was put into the folder by hand.
	SHA256     string    `json:"sha256,omitempty"`
	Bytes      *int64    `json:"bytes"`
	ReceivedAt time.Time `json:"received_at"`
	// Status is waiting, reading, read, failed, undoing or undone.
	Status string `json:"status"`
	RunID  string `json:"run_id,omitempty"` // the one that read it, or reads it
	// New, Changed and Same count its records as they came.
	New     int64 `json:"records_new"`
	Changed int64 `json:"records_changed"`
	Same    int64 `json:"records_same"`
	// Skipped is what of it could not be read, by reason; nil when nothing is missing.
	Skipped []ImportSkip `json:"skipped"`
	// LeftOut is what of it the source does not collect, by kind; nil when it is all collected, or not
	// read yet.
	LeftOut []LeftOut `json:"left_out"`
	// Already means that the content was given before, and that nothing was done.
	Already bool `json:"already_imported,omitempty"`
	// UndoDeletes and UndoKeeps are how many records undoing it would delete, and how many stay
	// because something else brought them too; nil where they were not counted.
	UndoDeletes *int64 `json:"undo_deletes"`
	UndoKeeps   *int64 `json:"undo_keeps"`
	// FileMissing means that the file is not in its folder any more: its records can be deleted, and
	// not read again. It is looked for where one receipt is asked for.
	FileMissing bool       `json:"file_missing,omitempty"`
	UndoneAt    *time.Time `json:"undone_at"`
	Deleted     int64      `json:"records_deleted"` // by undoing it
}

// ImportSkip counts what of a file could not be read, for one reason.
type ImportSkip struct {
	Reason string `json:"reason"`
	Words  string `json:"words,omitempty"` // what the connector says to it
	Count  int64  `json:"count"`
}

// What becomes of a file.
const (
	ImportWaiting = "waiting" // for a run
	ImportReading = "reading"
	ImportRead    = "read"
	ImportFailed  = "failed" // the run that should have read it
	ImportUndoing = "undoing"
	ImportUndone  = "undone"
)

// FileImport is which files a connector takes.
type FileImport struct {
	Label       string   `json:"label"`
	Description string   `json:"description,omitempty"`
	Help        string   `json:"help,omitempty"`
	Extensions  []string `json:"extensions"` // empty means any
	Wanted      string   `json:"wanted"`     // the same in words
	MaxBytes    int64    `json:"max_bytes"`  // of one file
}

// Codes of errors about files.
const (
	CodeNoImports       = "connector_takes_no_files"
	CodeFileNotAccepted = "file_not_accepted"
	CodeFileTooLarge    = "file_too_large"
	CodeFileCut         = "file_cut_short"
	CodeNoRoom          = "no_room"
	CodeFileInPlace     = "file_in_place"
)
