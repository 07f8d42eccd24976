package store

import (
	"context"
	"time"
)

// DiskUsageReader reports how much disk space things take. Commits maintain the sizes of streams, and the database
// reports the rest; nothing is scanned.
type DiskUsageReader interface {
	DiskUsage(ctx context.Context) (DiskUsage, error)
}

// DiskUsage is what takes how much disk space. A nil member was not measured.
type DiskUsage struct {
	Streams []StreamDiskUsage // by connection and name
	// Imports are the bytes of imported files that were not undone, by connection, as far as they were measured.
	Imports map[string]int64
	// Profiles are the bytes of sealed browser profiles, by connection.
	Profiles map[string]int64
	// SharedBytes are counted more than once in the streams' FileBytes, because a file is stored once for all
	// streams.
	SharedBytes int64
	// Unreferenced counts the files that no record refers to, and UnreferencedSince is the time of the oldest.
	Unreferenced      int64
	UnreferencedBytes int64
	UnreferencedSince *time.Time
	// Database is the total size. Unused is free space within it, Search the search index, and History the earlier
	// versions of records.
	Database *int64
	Unused   *int64
	Search   *int64
	History  *int64
}

// StreamDiskUsage is the disk space of one stream.
type StreamDiskUsage struct {
	ConnectionID string
	Stream       string
	Records      int64
	// Bytes is the size of its records' data; nil while they are not all counted.
	Bytes *int64
	// Files counts the distinct files that its records refer to.
	Files     int64
	FileBytes int64
}
