package store

import (
	"context"
	"time"
)

// Blob is a file of a record.
type Blob struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Field  string `json:"field"` // the field of the record's data that it belongs to
	MIME   string `json:"mime"`
	Name   string `json:"name,omitzero"`
}

// StoredBlob is a stored file, independent of the records that refer to it.
type StoredBlob struct {
	SHA256   string
	Bytes    int64
	StoredAt time.Time
	// UnreferencedAt is since when no record refers to it; nil while one does.
	UnreferencedAt *time.Time
}

// Blobs stores which records refer to which files. CommitSlice and CommitUpload write it.
type Blobs interface {
	// RecordBlobs returns the files of records by record id, in the order in which the record names them.
	RecordBlobs(ctx context.Context, recordIDs []int64) (map[int64][]Blob, error)
	// FindBlob returns a file that a live record refers to, if one of the filters allows the record and the field.
	// ErrNotFound otherwise, whether or not the file exists.
	FindBlob(ctx context.Context, sha256 string, in []AccessFilter) (Blob, error)
	// ListBlobs lists files by hash, starting after the given one. Limit 0 means 1000.
	ListBlobs(ctx context.Context, after string, limit int) ([]StoredBlob, error)
	// BlobTotals counts files and their bytes.
	BlobTotals(ctx context.Context) (files, bytes int64, err error)
	// PruneBlobs deletes the rows of some files that no record has referred to since before. Done is true when there
	// are no more.
	PruneBlobs(ctx context.Context, before time.Time) (done bool, err error)
	// UnknownBlobs returns those of the hashes that have no row.
	UnknownBlobs(ctx context.Context, hashes []string) ([]string, error)
	// LockUnknownBlob calls take if the file has no row, and prevents that one is added meanwhile.
	LockUnknownBlob(ctx context.Context, sha256 string, take func() error) error
}
