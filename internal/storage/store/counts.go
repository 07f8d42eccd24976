package store

import (
	"context"
	"time"
)

// Counts reads how many live records exist, by source, stream and day. The transaction that changes records updates
// the counts, so reading them costs the same for any number of records.
//
// The day of a record is that of its semantic time in UTC, for the years 1900 to 2199. Any other record counts as
// undated.
type Counts interface {
	// StoredSummary returns the counts of every stream, of every month, of the days from one day to another
	// inclusive, and of that last day, all from one snapshot.
	StoredSummary(ctx context.Context, from, to string) (StoredSummary, error)
	// DayCounts returns the days that have records, by day, connection and stream. Streams that are not fully counted
	// are included as far as they are.
	DayCounts(ctx context.Context, q DayQuery) ([]DayCount, error)
}

// StoredSummary counts the stored records. It leaves out days and months without records, and those of streams that
// are not fully counted.
type StoredSummary struct {
	Streams []StoredStream // by connection and name
	Months  []MonthCount   // by connection and month
	Days    []DayCount     // by day, over all connections
	Last    []DayCount     // the last day, by connection
}

// StoredStream counts the records of one stream.
type StoredStream struct {
	ConnectionID string
	Stream       string
	Records      int64
	Deleted      int64
	ChangedAt    *time.Time
	// Counted means that the members below, and the stream's days and months, cover all its records. BackfillDerived
	// counts the rest step by step: records from before counting, and records with a newly declared time field.
	Counted bool
	// Done is how many of the Seen changes are counted.
	Done, Seen int64
	Undated    int64
	Bytes      int64  // size of the records' data
	First      string // first and last day with records; empty when no record has a day
	Last       string
}

// MonthCount counts the records of a connection in a month such as 2026-03.
type MonthCount struct {
	ConnectionID string
	Month        string
	Records      int64
}

// DayCount counts the records of a day such as 2026-03-04. Connection and stream are empty in sums over all of them.
type DayCount struct {
	ConnectionID string
	Stream       string
	Day          string
	Records      int64
}

// DayQuery selects the days From to To, both included. An empty member is no limit.
type DayQuery struct {
	ConnectionID string
	Stream       string
	From, To     string
	// Nearest adds the last day of each stream before From, and the first one after To.
	Nearest bool
}
