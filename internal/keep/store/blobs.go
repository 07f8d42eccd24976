package store

import (
	"context"
	"time"
)

// Blob is a file of a record.
type Blob struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Field  string `json:"field"` // of the record's data, that it belongs to
	MIME   string `json:"mime"`
	Name   string `json:"name,omitzero"`
}

// KeptBlob is a file, whoever refers to it.
type KeptBlob struct {
	SHA256   string
	Bytes    int64
	StoredAt time.Time
	// UnreferencedAt is since when no record refers to it; nil while one does.
	UnreferencedAt *time.Time
}

// Blobs knows which records refer to which files. CommitSlice and CommitUpload write it.
type Blobs interface {
	// BlobsOf gives the files of records, by their ids, in the order in which they were named.
	BlobsOf(ctx context.Context, recordIDs []int64) (map[int64][]Blob, error)
	// FindBlob gives a file that a live record within one of the parts refers to, through a field
	// that the part lets be read. ErrNotFound when there is none, whether or not it exists.
	FindBlob(ctx context.Context, sha256 string, in []Part) (Blob, error)
	// ListBlobs gives files by their hashes, from after the given one on. Limit 0 means 1000.
	ListBlobs(ctx context.Context, after string, limit int) ([]KeptBlob, error)
	// BlobUse counts files and their bytes.
	BlobUse(ctx context.Context) (files, bytes int64, err error)
	// ForgetBlobs forgets files that no record has referred to since before, some of them. Done
	// is true when there are no more.
	ForgetBlobs(ctx context.Context, before time.Time) (done bool, err error)
	// UnknownBlobs gives those of the hashes that are not known.
	UnknownBlobs(ctx context.Context, hashes []string) ([]string, error)
	// WithoutBlob calls take if no file of this content is known, and keeps it from becoming
	// known meanwhile.
	WithoutBlob(ctx context.Context, sha256 string, take func() error) error
}
