package store

import (
	"context"
	"time"
)

// Counts is how many live records there are, by source, stream and day. They are kept in the
// transaction that changes records, and cost the same however many records there are.
//
// The day of a record is that of its semantic time in UTC, if it is of the years 1900 to 2199.
// A record without such a time counts as undated.
type Counts interface {
	// Kept gives what is kept of every stream, by month, by day from a day up to and
	// including another, and on that last day: all of one moment.
	Kept(ctx context.Context, from, to string) (Kept, error)
	// DayCounts gives the records of each day that has any, by day, connection and stream, of
	// what is counted of each stream.
	DayCounts(ctx context.Context, q DayQuery) ([]DayCount, error)
}

// Kept is what is kept. Days and months without records are left out, and those of streams that
// are not all counted.
type Kept struct {
	Streams []KeptStream // by connection and name
	Months  []MonthCount // by connection and month
	Days    []DayCount   // by day, of all connections
	Last    []DayCount   // those of the last day, by connection
}

// KeptStream is what is kept of a stream.
type KeptStream struct {
	ConnectionID string
	Stream       string
	Records      int64
	Deleted      int64
	ChangedAt    *time.Time
	// Counted says that the members below, and the days and months of the stream, are of all
	// its records. Records from before counts were kept are counted step by step (Align), as
	// are those whose time the connector has declared anew.
	Counted bool
	// Done is how many of its changes are counted, of Seen.
	Done, Seen int64
	Undated    int64
	Bytes      int64  // of the data of its records
	First      string // the first and the last day with records; empty when none has a day
	Last       string
}

// MonthCount counts the records of a connection in a month like 2026-03.
type MonthCount struct {
	ConnectionID string
	Month        string
	Records      int64
}

// DayCount counts the records of a day like 2026-03-04. Connection and stream are empty where all are meant.
type DayCount struct {
	ConnectionID string
	Stream       string
	Day          string
	Records      int64
}

// DayQuery asks for days from one up to and including another; an empty member is no bound.
type DayQuery struct {
	ConnectionID string
	Stream       string
	From, To     string
	// Nearest also gives the last day of each stream before From, and the first one after To.
	Nearest bool
}
