package store

import (
	"context"
	"time"
)

// Rooms says how much room things take. What belongs to a stream is kept with each commit, and
// the rest is what the database tells of itself at once: nothing is read through for it.
type Rooms interface {
	Room(ctx context.Context) (Room, error)
}

// Room is what takes how much of it. A member that is nil is not measured.
type Room struct {
	Streams []StreamRoom // by connection and name
	// Imports are the bytes of files that an owner gave and did not take back, by connection, as
	// far as they were measured.
	Imports map[string]int64
	// Profiles are the bytes of what browsers keep, sealed, by connection.
	Profiles map[string]int64
	// SharedBytes are counted more than once in the streams' FileBytes: each file is stored once,
	// however many streams have it.
	SharedBytes int64
	// Files that no record refers to any more, and since when the oldest of them is without one.
	Unreferenced      int64
	UnreferencedBytes int64
	UnreferencedSince *time.Time
	// Database is the whole of it, of which Unused is taken and holds nothing, Search what
	// searching is done by, and History earlier versions of records.
	Database *int64
	Unused   *int64
	Search   *int64
	History  *int64
}

// StreamRoom is the room that one stream takes.
type StreamRoom struct {
	ConnectionID string
	Stream       string
	Records      int64
	// Bytes of the data of its records; nil while they are not all counted.
	Bytes *int64
	// Files are the different ones that its records refer to.
	Files     int64
	FileBytes int64
}
