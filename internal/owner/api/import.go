package api

import (
	"context"
	"io"
	"time"
)

// Importing is giving files to connections, and taking back what came from them.
type Importing interface {
	// Import stores a file for a connection and requests the run that reads it. A file that is not received
	// completely is not stored. If the connection already has the same content, Import changes nothing and returns
	// the existing receipt with Already set.
	Import(ctx context.Context, connectionID string, f ImportFile) (Import, error)
	// Imports lists the receipts of a connection, the newest first.
	Imports(ctx context.Context, connectionID string) ([]Import, error)
	// ImportByID returns one receipt, with what undoing the import would do.
	ImportByID(ctx context.Context, id string) (Import, error)
	// UndoImport deletes the records that came only from the file of a receipt. It also deletes the file if the
	// server received it. Records that another file or the source also delivered stay unchanged. Call it again to
	// resume an undo that was interrupted or still has the status undoing.
	UndoImport(ctx context.Context, id string) (Import, error)
}

// ImportFile is a file that an owner imports.
type ImportFile struct {
	Name    string `query:"name"` // as the owner calls it; nothing of it leads anywhere
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
	Skipped []ImportSkip `json:"skipped" nullable:"true"`
	// LeftOut is what of it the source does not collect, by kind; nil when it is all collected, or not
	// read yet.
	LeftOut []LeftOut `json:"left_out" nullable:"true"`
	// Already means that the same content was imported before, and that nothing was done.
	Already bool `json:"already_imported,omitempty"`
	// UndoDeletes and UndoKeeps are how many records undoing it would delete, and how many stay
	// because something else brought them too; nil where they were not counted.
	UndoDeletes *int64 `json:"undo_deletes"`
	UndoKeeps   *int64 `json:"undo_keeps"` // how many stay because something else has them too
	// FileMissing means that the file is not in its folder any more: its records can be deleted, and
	// not read again. It is looked for where one receipt is asked for.
	FileMissing bool       `json:"file_missing,omitempty"`
	UndoneAt    *time.Time `json:"undone_at"`
	Deleted     int64      `json:"records_deleted"` // by undoing it
}

// ImportSkip counts what of a file could not be read, for one reason.
type ImportSkip struct {
	Reason string `json:"reason"`
	Words  string `json:"words,omitempty"` // the connector's description of the reason
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
